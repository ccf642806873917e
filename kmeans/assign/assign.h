/*
 * The nearest centroid of every point by squared Euclidean distance: exactly where features are
 * unsigned bytes. No MPI.
 */
#ifndef COLL_KMEANS_ASSIGN_ASSIGN_H
#define COLL_KMEANS_ASSIGN_ASSIGN_H

#include "kmeans/assign/kernel.h"
#include "kmeans/assign/sketch.h"

#include <stddef.h>
#include <stdint.h>

/* Centroids packed for one kernel. */
typedef struct km_centroids km_centroids;

/*
 * Packs K centroids of DIM features each (bytes, or float32 for a real kernel), row after row, for
 * KERNEL, by THREADS threads; the rows themselves are not needed afterwards. Free the result with
 * km_centroids_free. The packed copy takes about K * DIM bytes (avx2: twice that; float32: four
 * times). Returns 0, ENOMEM, or EINVAL unless THREADS >= 1, 1 <= K < 2^32 and 1 <= DIM <=
 * KM_MAX_DIM (memory.h).
 */
int km_centroids_create(const uint8_t *centroids, size_t k, size_t dim, const km_kernel *kernel,
                        int threads, km_centroids **packed);
void km_centroids_free(km_centroids *centroids);

/*
 * From now on the centroids are the fine ones of PLANES (fine.h), whose first plane was packed and
 * which the caller keeps for as long as CENTROIDS. Before km_centroids_sieve. Returns 0, ENOMEM, or
 * EINVAL with more than KM_FINE_MAX_DIM features or the kernel for reals.
 */
int km_centroids_refine(km_centroids *centroids, const uint8_t *planes, int threads);

/*
 * From now on most centroids are left out by their sketches (sieve.h), where that is faster; the
 * answers stay the same. ROWS are those that were packed; they and SKETCH are kept by the caller
 * for as long as CENTROIDS. The sketches take some 100 bytes a centroid. Returns 0, ENOMEM, or
 * EINVAL when DIM is not that of the sketch or the kernel is the one for reals.
 */
int km_centroids_sieve(km_centroids *centroids, const uint8_t *rows, const km_sketch *sketch,
                       int threads);

/*
 * The place of each centroid in an order in which those near each other come together; NULL for
 * centroids without sketches.
 */
const uint32_t *km_centroids_places(const km_centroids *centroids);

/*
 * For each of N points of DIM features, row after row: the number of the nearest centroid, the
 * lowest of several equally near, and its squared distance (DISTANCE may be NULL). The answer does
 * not depend on the kernel or on the number of threads. Every thread keeps a packed block of
 * points, some 1 MiB.
 *
 * Of real features, too, the answer does not depend on the number of threads, nor on which points
 * are assigned together. The distances are floats then, rounded from double precision, of which
 * each number holds the bits: they order as the floats do.
 *
 * To fine centroids distances are exact, and given as such bits, too, rounded.
 *
 * Returns 0, ENOMEM, or EINVAL when THREADS < 1 or DIM is not that of the centroids;
 * after an error the outputs are undefined.
 */
int km_assign(const uint8_t *points, size_t n, size_t dim, const km_centroids *centroids,
              int threads, uint32_t *nearest, uint32_t *distance);

/*
 * The points that are to be assigned: N of those in ROWS, by their numbers WHICH. Their sketches
 * are in KEPT, which gets those that it lacks, unless it is NULL; they must be by the sketch of the
 * centroids.
 */
typedef struct km_query {
    const uint8_t *rows;
    size_t dim;
    const size_t *which;
    size_t n;
    const km_sketches *kept;
} km_query;

/*
 * The same for the points of QUERY, faster where GUESS[i] is the number of a centroid that is
 * likely near the point WHICH[i], as that of the last iteration is; there is none where it isn't a
 * centroid's number. GUESS may be NEAREST, or NULL.
 */
int km_assign_again(const km_query *query, const km_centroids *centroids, int threads,
                    const uint32_t *guess, uint32_t *nearest, uint32_t *distance);

/*
 * A guess for each point of QUERY, by its sketch, and its squared distance, for centroids that have
 * their sketches. AGAIN: a better one than GUESS has, which is quick where the points are arranged.
 * Returns 0 or ENOMEM.
 */
int km_guess(const km_query *query, const km_centroids *centroids, int threads, bool again,
             uint32_t *guess, uint32_t *distance);

#endif
