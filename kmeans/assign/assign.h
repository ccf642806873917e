/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the nearest centroid of every point by squared Euclidean distance; the result is exact if
 * features are unsigned bytes. No MPI.
 */
#ifndef COLL_KMEANS_ASSIGN_ASSIGN_H
#define COLL_KMEANS_ASSIGN_ASSIGN_H

#include "kmeans/assign/code_cache.h"
#include "kmeans/assign/group_bounds.h"
#include "kmeans/assign/kernel.h"
#include "kmeans/assign/projection.h"

#include <stddef.h>
#include <stdint.h>

/* Centroids packed for one kernel. */
typedef struct km_centroids km_centroids;

/*
 * Packs K centroids of DIM features each (float32 if REAL, else bytes), row after row, for KERNEL,
 * using THREADS threads. The caller keeps rows of float32 for as long as the result; rows of bytes
 * are copied. Free the result with km_centroids_free. The packed copy takes about K * DIM bytes
 * (avx2: twice that for bytes). Returns 0, ENOMEM, or EINVAL unless THREADS >= 1, 1 <= K < 2^32 and
 * 1 <= DIM <= KM_MAX_DIM (memory.h).
 */
int km_centroids_create(const uint8_t *centroids, size_t k, size_t dim, bool real,
                        const km_kernel *kernel, int threads, km_centroids **packed);
void km_centroids_free(km_centroids *centroids);

/*
 * Replaces CENTROIDS, which must have been created from the first plane of PLANES (fixed_point.h),
 * by the fixed-point centroids of PLANES. The caller keeps PLANES for as long as CENTROIDS. Call
 * this before km_centroids_prune. Returns 0, ENOMEM, or EINVAL if there are more than
 * KM_FIXED_POINT_MAX_DIM features, if the features are real, if THREADS < 1, or if CENTROIDS are
 * pruned or fixed-point already.
 */
int km_centroids_use_fixed_point(km_centroids *centroids, const uint8_t *planes, int threads);

/*
 * Lets the next assignment to CENTROIDS use and renew BOUNDS (group_bounds.h) and the codes of
 * CACHE (code_cache.h); either may be NULL. CENTROIDS must have been created from ROWS, of float32.
 * If BOUNDS is not NULL, the caller must have begun the assignment with km_group_bounds_begin, and
 * the assignment must cover all points of BOUNDS, each point once, in one query or in several. The
 * caller keeps ROWS, BOUNDS and CACHE for as long as CENTROIDS. Returns 0 or ENOMEM.
 */
int km_centroids_use_caches(km_centroids *centroids, const uint8_t *rows, km_group_bounds *bounds,
                            km_code_cache *cache, int threads);

/*
 * Turns pruning on: from now on sketches (projection.h) rule out most centroids if that is faster.
 * The results stay the same. ROWS are the rows that were packed; the caller keeps them and
 * PROJECTION for as long as CENTROIDS. The sketches take some 100 bytes a centroid. Returns 0,
 * ENOMEM, or EINVAL if PROJECTION is for another number of features, if the features are real, or
 * if THREADS < 1.
 */
int km_centroids_prune(km_centroids *centroids, const uint8_t *rows,
                       const km_projection *projection, int threads);

/*
 * Returns the position of each centroid in an order in which centroids near each other come
 * together; NULL if the centroids have no sketches.
 */
const uint32_t *km_centroids_positions(const km_centroids *centroids);

/*
 * Finds for each of N points of DIM features, row after row, the number of the nearest centroid (of
 * several equally near ones the lowest) and its squared distance (DISTANCE may be NULL). The result
 * depends neither on the kernel nor on the number of threads. Every thread packs a block of points,
 * of some 1 MiB at most (more if a single panel is larger).
 *
 * With real features, distances are those of km_real_distance2 (real.h), in double precision.
 * DISTANCE then holds the bits of these distances, rounded to floats; as integers the bits have the
 * same order as the floats.
 *
 * Distances to fixed-point centroids are compared exactly. DISTANCE holds the bits of these
 * distances, rounded to floats, too.
 *
 * Returns 0, ENOMEM, or EINVAL if THREADS < 1 or DIM is not that of the centroids; after an error
 * the outputs are undefined.
 */
int km_assign(const uint8_t *points, size_t n, size_t dim, const km_centroids *centroids,
              int threads, uint32_t *nearest, uint32_t *distance);

/*
 * The points to be assigned: N of the ROWS. WHICH has the numbers of these rows; if WHICH is NULL,
 * they are the rows from number FIRST on. If KEPT is not NULL, it is a cache of the sketches of all
 * rows: sketches found there are used, and missing ones are added. The cache must have been made
 * for the projection of the centroids, and WHICH must not be NULL.
 */
typedef struct km_query {
    const uint8_t *rows;
    size_t dim;
    const size_t *which;
    size_t first, n;
    const km_sketch_cache *kept;
} km_query;

/* Returns the number of the row that is point I of the query. */
static inline size_t km_query_number(const km_query *query, size_t i) {
    return query->which ? query->which[i] : query->first + i;
}

/*
 * Does the same as km_assign for the points of QUERY. It is faster if GUESS[i] is the number of a
 * centroid that is probably near point i, such as its centroid of the last iteration. A GUESS[i]
 * that is not the number of a centroid means that point i has no guess. GUESS may be NEAREST, or
 * NULL.
 */
int km_assign_query(const km_query *query, const km_centroids *centroids, int threads,
                    const uint32_t *guess, uint32_t *nearest, uint32_t *distance);

/*
 * Sets GUESS[i] to the number of a centroid that is probably near point i of QUERY, found by
 * sketches alone, and DISTANCE[i] to its squared distance from the point. If AGAIN, GUESS must hold
 * numbers of centroids on entry, and these guesses are improved; this is quick if the points have
 * been sorted (reorder_points.h). Returns 0, ENOMEM, or EINVAL as km_assign does or if the
 * centroids have no sketches.
 */
int km_guess(const km_query *query, const km_centroids *centroids, int threads, bool again,
             uint32_t *guess, uint32_t *distance);

#endif
