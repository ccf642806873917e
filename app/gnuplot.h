/* Pictures (PNG) that gnuplot draws. */
#ifndef COLL_APP_GNUPLOT_H
#define COLL_APP_GNUPLOT_H

#include "app/problem.h"

#include <stdio.h>

/* Whether there is a gnuplot. */
bool gnuplot_check(struct problem *problem);

/*
 * Draws the picture PATH: WRITE writes gnuplot's commands, which make a PNG, to GNUPLOT, from what
 * CONTEXT points to.
 */
bool gnuplot_draw(const char *path, void (*write)(FILE *gnuplot, const void *context),
                  const void *context, struct problem *problem);

#endif
