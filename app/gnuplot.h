/* Pictures (PNG) that gnuplot draws. */
#ifndef COLL_APP_GNUPLOT_H
#define COLL_APP_GNUPLOT_H

#include "app/output.h"

/* Whether there is a gnuplot. */
bool gnuplot_check(struct problem *problem);

/*
 * Starts gnuplot, whose picture goes to OUTPUT; it takes commands from the stream that is returned.
 * NULL and a problem on failure.
 */
FILE *gnuplot_start(const struct output *output, struct problem *problem);

/* Ends what gnuplot_start began; false and a problem where the picture isn't whole. */
bool gnuplot_end(FILE *gnuplot, const struct output *output, struct problem *problem);

#endif
