/*
 * The drawer: a call as the pricer plays it, as an SVG. A line for each rank in chain order, time
 * to the right, messages as arrows coloured by level, racks as bands, and in the margin what goes
 * over their uplinks. Of very many messages it draws some, and says so.
 */
#ifndef COLL_LIB_SCHEDULE_DRAW_H
#define COLL_LIB_SCHEDULE_DRAW_H

#include "lib/schedule/price.h"

#include <stdio.h>

typedef struct coll_drawing {
    const coll_algorithm *algorithm;
    const coll_shape *shape; /* its topology may have no host names */
    const coll_values *values;
    const char *spec; /* as the title has it */
} coll_drawing;

/* MPI_ERR_NO_MEM; MPI_ERR_COUNT where there is too much to play. Errors of STREAM are its user's.
 */
int coll_draw(const coll_drawing *drawing, FILE *stream);

#endif
