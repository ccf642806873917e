/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over clusters: for each cluster with points on a rank, the number of its points, or the sum
 * of their weights, and the weighted sum of their features, as values of a COLL_Pool with the
 * cluster's number as key. All sums are integers, so that totals don't depend on the order of
 * addition. Also computes the new centroids from these sums.
 */
#ifndef COLL_KMEANS_ASSIGN_CLUSTER_SUMS_H
#define COLL_KMEANS_ASSIGN_CLUSTER_SUMS_H

#include "kmeans/points/points.h"

#include <coll.h>

/* Creates an empty pool for sums over POINTS; the caller frees it. */
bool km_cluster_sums_pool(const km_points *points, COLL_Pool **pool, app_problem *problem);

/* A number that no cluster has. */
#define KM_NO_CLUSTER UINT32_MAX

/*
 * Points that enter or leave clusters: each point i whose CLUSTERS[i] is a cluster and differs from
 * OTHERS[i] is added to the sums of cluster CLUSTERS[i] or, if SUBTRACT, subtracted from them.
 */
typedef struct km_change {
    const uint32_t *clusters, *others;
    bool subtract;
} km_change;

/*
 * Applies CHANGE to the sums of K clusters in POOL, using THREADS threads. This rank must have
 * fewer than 2^32 POINTS. ORDER (one number for each point) and STARTS (K + 1 numbers) are scratch
 * memory.
 */
bool km_cluster_sums_add(const km_points *points, const km_change *change, size_t k, int threads,
                         uint32_t *order, size_t *starts, COLL_Pool *pool, app_problem *problem);

/* Adds the values of FROM to those of INTO. Not collective. */
bool km_cluster_sums_merge(COLL_Pool *into, const COLL_Pool *from, app_problem *problem);

/*
 * Returns the squared distance between two vectors of uint8, of at most KM_MAX_DIM (memory.h)
 * features.
 */
uint64_t km_distance2(const uint8_t *a, const uint8_t *b, size_t dim);

/*
 * Returns the squared distance between centroid J of A and centroid J of B, two sets of K centroids
 * of POINTS, in the units of the input.
 */
double km_centroid_shift2(const km_points *points, size_t k, const uint8_t *a, const uint8_t *b,
                          size_t j);

/*
 * Returns the squared distance between two rows of POINTS; for real features as the bits of a float
 * (real.h).
 */
uint32_t km_rows_distance2(const km_points *points, const uint8_t *a, const uint8_t *b);

/*
 * Returns the squared distance between point I of this rank and centroid J, in the form in which
 * km_assign gives it.
 */
uint32_t km_point_distance2(const km_points *points, size_t i, const uint8_t *centroids, size_t k,
                            size_t j);

/*
 * Sets each centroid whose cluster is in POOL to the mean of the cluster, rounded to the nearest
 * integer, half up (fixed-point ones to the nearest multiple of 2^-16, real features to the nearest
 * float32). The centroids of clusters that are not in POOL, or have no points or weight there, stay
 * as they are. The mean of points of length 1 (real.h) is then scaled to length 1. Sets COUNTS[j]
 * to the number of points of cluster j of K, or the sum of their weights; 0 if the cluster isn't in
 * POOL. Not collective.
 *
 * Compared with the exact mean, rounding adds at most count * dim / 4 to a cluster's sum of squared
 * distances. Still, the sum never exceeds the sum for the old centroid: in every dimension the sum
 * is a parabola around the mean, so the integer nearest to the mean is the best integer, and the
 * old centroid's feature is an integer, too.
 */
bool km_update_centroids(const COLL_Pool *pool, const km_points *points, size_t k,
                         uint8_t *centroids, uint64_t *counts, app_problem *problem);

#endif
