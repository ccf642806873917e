/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the several nearest centroids of each point, by computing all distances. No MPI. */
#ifndef COLL_KMEANS_NEAREST_H
#define COLL_KMEANS_NEAREST_H

#include "kmeans/points/points.h"

/*
 * Finds the COUNT <= K nearest of K CENTROIDS, in the form that POINTS need, for each of this
 * rank's points, nearest first; of equally near ones that with the lowest number first. NEAREST
 * gets their numbers, and DISTANCES, unless NULL, their distances: COUNT for each point. Returns 0
 * or ENOMEM.
 */
int km_find_nearest(const km_points *points, const uint8_t *centroids, size_t k, size_t count,
                    int threads, uint32_t *nearest, float *distances);

/* Writes the distances of point I from all K CENTROIDS, in the units of the input, to DISTANCES. */
void km_find_distances(const km_points *points, size_t i, const uint8_t *centroids, size_t k,
                       double *distances);

#endif
