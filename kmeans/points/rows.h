/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves data between rank 0 and the ranks that have the points: values of each point, or chosen
 * rows. For values, the points must be spread evenly over the ranks (km_share).
 */
#ifndef COLL_KMEANS_POINTS_ROWS_H
#define COLL_KMEANS_POINTS_ROWS_H

#include "kmeans/points/points.h"

/* Handles a piece at rank 0: uses its COUNT VALUES, or fills them in. */
typedef bool km_rows_piece(uint32_t *values, size_t count, void *context, app_problem *problem);

/*
 * Sends VALUES, which has EACH numbers for every point of this rank, to rank 0. Rank 0 passes the
 * values of all points to TAKE, piece by piece in the order of the points. After TAKE has failed,
 * the remaining pieces are still received, so that no rank waits forever. Every rank must call this
 * function; a problem stays on the rank that has it.
 */
bool km_rows_collect(uint32_t *values, size_t each, const km_points *points, MPI_Comm comm,
                     km_rows_piece *take, void *context, app_problem *problem);

/*
 * Does the opposite: at rank 0 GIVE fills in one value for each point, and each rank receives the
 * values of its points in VALUES.
 */
bool km_rows_spread(uint32_t *values, const km_points *points, MPI_Comm comm, km_rows_piece *give,
                    void *context, app_problem *problem);

/* Row ROW, counted over all ranks, becomes centroid CENTROID. */
typedef struct km_place {
    uint64_t row;
    uint64_t centroid;
} km_place;

/*
 * Copies the rows of PLACES, the same on all ranks, to their places in CENTROIDS at rank 0; other
 * ranks don't touch CENTROIDS. Collective; on false all ranks have the same problem.
 */
bool km_place_rows(const km_points *points, const km_place *places, size_t count,
                   uint8_t *centroids, MPI_Comm comm, app_problem *problem);

#endif
