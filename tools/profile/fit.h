/* Curves through measured points, as the cost model wants them. Pure. */
#ifndef COLL_TOOLS_PROFILE_FIT_H
#define COLL_TOOLS_PROFILE_FIT_H

#include <coll_tools.h>

/*
 * The curve through COUNT (at least 1) points of ascending BYTES: first what falls is levelled to
 * the weighted mean (isotonic regression by pooling neighbours), then the knots are those points
 * that keep the largest relative error least, one after the other, until it is below 1 % or there
 * are COLL_KNOTS. The curve's error is the mean of |measured / fitted - 1| over the points. Errors
 * are relative to BESIDES seconds more, which the times are part of what takes.
 */
void fit_curve(int count, const double bytes[], const double seconds[], double besides,
               COLL_Curve *curve);

/* The slope and intercept of the line with the least squares of COUNT (at least 2) points. */
void fit_line(int count, const double x[], const double y[], double *slope, double *intercept);

#endif
