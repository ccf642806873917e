/* Values of points, one each, on their way between the ranks that have the points and rank 0. */
#ifndef COLL_KMEANS_POINTS_ROWS_H
#define COLL_KMEANS_POINTS_ROWS_H

#include "kmeans/points/points.h"

/* What rank 0 does with a piece: takes COUNT values that are there, or puts them there. */
typedef bool km_rows_piece(uint32_t *values, size_t count, void *context, app_problem *problem);

/*
 * Brings VALUES, of this rank's points, to rank 0, where TAKE gets those of all points, piece by
 * piece in the points' order. After TAKE has failed the rest still comes in, so that nobody waits
 * for ever. Every rank must call it; a problem stays on the rank that has it.
 */
bool km_rows_collect(uint32_t *values, const km_points *points, MPI_Comm comm, km_rows_piece *take,
                     void *context, app_problem *problem);

/* The way back: GIVE, at rank 0, makes the values, and each rank gets those of its points. */
bool km_rows_spread(uint32_t *values, const km_points *points, MPI_Comm comm, km_rows_piece *give,
                    void *context, app_problem *problem);

#endif
