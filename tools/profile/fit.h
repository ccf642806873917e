/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits curves of the cost model, and lines, to measured points. Does no I/O and uses no MPI. */
#ifndef COLL_TOOLS_PROFILE_FIT_H
#define COLL_TOOLS_PROFILE_FIT_H

#include <coll_tools.h>

/*
 * Fits CURVE to COUNT (at least 1) points of ascending BYTES. First makes a copy of SECONDS
 * nondecreasing: replaces neighbours that fall with their mean (isotonic regression). The first and
 * the last point become knots. Then the point with the largest relative error becomes a knot, again
 * and again, until that error is at most 1 % or there are COLL_KNOTS knots. SECONDS are a part of
 * times that take BESIDES seconds more: a relative error is |SECONDS - fitted| / (fitted +
 * BESIDES). CURVE->error is the mean of the relative errors of all points.
 */
void fit_curve(int count, const double bytes[], const double seconds[], double besides,
               COLL_Curve *curve);

/* Fits a line to COUNT (at least 2) points by least squares. */
void fit_line(int count, const double x[], const double y[], double *slope, double *intercept);

#endif
