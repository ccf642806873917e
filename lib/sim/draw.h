/*
 * Draws a simulated call (result.h) as an SVG: a line for each rank in chain order, time to the
 * right, messages as arrows coloured by level, racks as bands, and in the margin the bytes over the
 * racks' uplinks. If there are very many messages, only a part is drawn, and the title says so.
 */
#ifndef COLL_LIB_SIM_DRAW_H
#define COLL_LIB_SIM_DRAW_H

#include "lib/sim/sim.h"

#include <stdio.h>

typedef struct coll_drawing {
    const coll_algorithm *algorithm;
    const coll_shape *shape; /* its topology may have no host names */
    const coll_values *values;
    const char *spec; /* the algorithm and its values, for the title */
} coll_drawing;

/* Draws to STREAM. Returns MPI_ERR_NO_MEM without memory, and MPI_ERR_COUNT if there are too many
 * messages to simulate. The caller checks STREAM for errors. */
int coll_draw(const coll_drawing *drawing, FILE *stream);

#endif
