/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the several nearest centroids of each point, by computing all distances. No MPI. */
#ifndef COLL_KMEANS_NEAREST_H
#define COLL_KMEANS_NEAREST_H

#include "kmeans/points/points.h"

/*
 * Finds, for each of this rank's points, the COUNT <= K nearest of K CENTROIDS, which have the form
 * that POINTS need. Writes the numbers of these COUNT centroids to NEAREST, for each point in
 * ascending order of distance, and for equal distances in ascending order of number. Writes the
 * distances to DISTANCES unless that is NULL. Returns 0 or ENOMEM.
 */
int km_find_nearest(const km_points *points, const uint8_t *centroids, size_t k, size_t count,
                    int threads, uint32_t *nearest, float *distances);

/* Writes the distances of point I from all K CENTROIDS, in the units of the input, to DISTANCES. */
void km_find_distances(const km_points *points, size_t i, const uint8_t *centroids, size_t k,
                       double *distances);

#endif
