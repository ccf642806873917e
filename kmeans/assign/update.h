/* New centroids from the sums of their clusters. */
#ifndef COLL_KMEANS_ASSIGN_UPDATE_H
#define COLL_KMEANS_ASSIGN_UPDATE_H

#include "kmeans/assign/partial.h"

/* The squared distance between two vectors of uint8, of KM_MAX_DIM (points/memory.h) features at
 * most. */
uint64_t km_distance2(const uint8_t *a, const uint8_t *b, size_t dim);

/* The squared distance between two rows or centroids of POINTS. */
double km_way2(const km_points *points, const uint8_t *a, const uint8_t *b);

/*
 * Sets each centroid whose cluster is in POOL, of POINTS, to the mean of the cluster, rounded to
 * the nearest integer, half up (of real features, to the nearest float32); the others stay.
 * COUNTS[j] becomes the number of points of cluster j of K, 0 where it isn't in POOL. Not
 * collective.
 *
 * Rounding adds count * dim / 4 at most to a cluster's sum of squared distances, in comparison with
 * the exact mean. Yet it can't make the sum greater than the old centroid did: in every dimension
 * the sum is a parabola around the mean, so that the integer nearest to the mean is the best of all
 * integers, the old centroid's among them.
 */
bool km_update(const COLL_Pool *pool, const km_points *points, size_t k, uint8_t *centroids,
               uint64_t *counts, app_problem *problem);

#endif
