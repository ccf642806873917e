/*
 * Partial sums of clusters: for each cluster that a rank's points touch, their count and the sum of
 * their features, as values of a COLL_Pool under the number of the cluster. Integers, so that the
 * totals don't depend on the order of addition.
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

/*
 * Calls VISIT for every cluster in POOL, in ascending order. SUMS holds a sum for each feature: of
 * real ones in units, as int64_t.
 */
bool km_partial_visit(const COLL_Pool *pool, const km_points *points,
                      void (*visit)(uint64_t cluster, uint64_t count, const uint64_t *sums,
                                    void *context),
                      void *context, app_problem *problem);

#endif
