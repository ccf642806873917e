/* Bringing chosen rows, which lie on any rank, to rank 0. */
#ifndef COLL_KMEANS_POINTS_PLACE_H
#define COLL_KMEANS_POINTS_PLACE_H

#include "kmeans/points/points.h"

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
