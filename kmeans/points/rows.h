/* What goes between the ranks that have the points and rank 0: a value of each, or chosen rows. */
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

/* The point of row ROW, counted over all ranks, becomes centroid CENTROID. */
typedef struct km_place {
    uint64_t row;
    uint64_t centroid;
} km_place;

/*
 * Copies the points of PLACES, the same on all ranks, each to its own place in CENTROIDS at rank 0;
 * other ranks don't touch CENTROIDS. Collective; on false all ranks have the same problem.
 */
bool km_place_rows(const km_points *points, const km_place *places, size_t count,
                   uint8_t *centroids, MPI_Comm comm, app_problem *problem);

#endif
