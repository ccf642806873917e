/*
 * Partial sums of clusters: for each cluster that a rank's points touch, their count and the sum of
 * their features, as values of a COLL_Pool under the number of the cluster. Integers, so that the
 * totals don't depend on the order of addition. And the new centroids that follow from them.
 */
#ifndef COLL_KMEANS_ASSIGN_PARTIAL_H
#define COLL_KMEANS_ASSIGN_PARTIAL_H

#include "kmeans/points/points.h"

#include <coll.h>

/* Makes an empty pool for partial sums over POINTS; the caller frees it. */
bool km_partial_pool(const km_points *points, COLL_Pool **pool, app_problem *problem);

/*
 * Adds this rank's points, of which point i belongs to cluster NEAREST[i] < K, to POOL, by THREADS
 * threads. ORDER is scratch for a number for each point, STARTS for one for each cluster and one
 * more.
 */
bool km_partial_add(const km_points *points, const uint32_t *nearest, size_t k, int threads,
                    size_t *order, size_t *starts, COLL_Pool *pool, app_problem *problem);

/* The squared distance between two vectors of uint8, of at most KM_MAX_DIM (memory.h) features. */
uint64_t km_distance2(const uint8_t *a, const uint8_t *b, size_t dim);

/* The squared distance between number J of two sets of K centroids of POINTS, as users see them. */
double km_way2(const km_points *points, size_t k, const uint8_t *a, const uint8_t *b, size_t j);

/* The squared distance between two rows of POINTS: of real ones the bits of a float (real.h). */
uint32_t km_rows_distance2(const km_points *points, const uint8_t *a, const uint8_t *b);

/* The squared distance between point I of this rank and centroid J, as km_assign gives it. */
uint32_t km_recall(const km_points *points, size_t i, const uint8_t *centroids, size_t k, size_t j);

/*
 * Sets each centroid whose cluster is in POOL, of POINTS, to the mean of the cluster, rounded to
 * the nearest integer, half up (fine ones to the nearest multiple of 2^-16, those of real features
 * to the nearest float32); the others stay.
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
