/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the nearest centroids of points of float32 features. Rows are quantised to bytes; products
 * of bytes, which kernels compute several times as fast as products of floats, rule out most
 * centroids; distances in double precision decide among the remaining centroids. So the result is
 * the same as if km_real_distance2 were computed for all pairs. No MPI.
 *
 * Let m be any vector, preferably near the points and centroids, such as their mean. For a point x
 * and a centroid c, let
 *
 *     y = x - m = s q + r,     e = c - m = t p + f,
 *
 * with scales s and t, one for each row, and vectors q and p of small integers; r and f are the
 * rounding errors. The score |x - c|^2 - |y|^2 = |e|^2 - 2 y.e orders the centroids of a point like
 * their distances do. As y.e = s t q.p + s q.f + r.e, by Cauchy and Schwarz
 *
 *     | score - (|e|^2 - 2 s t q.p) | <= 2 (s |q| |f| + |r| |e|).                     (1)
 *
 * q.p is an exact integer. Everything is divided by 2 s:
 *
 *     z = h |e|^2 - t q.p,     h = 1 / (2 s),     | h score - z | <= |q| |f| + |r| |e| / s.   (2)
 *
 * A bound B of each point is at least h times the score of its nearest centroid. So a centroid with
 * z - (|q| |f| + |r| |e| / s) > B is not nearest. B is the least z + |q| |f| + |r| |e| / s so far,
 * or follows from the computed distance of a centroid.
 *
 * Rounding: u = 2^-24 is the rounding error of float32, Y and E are upper bounds of |y| and of all
 * |e|. z, its error bound and B are sums of a few products, none larger than (Y + E) E / s, with
 * some ten roundings; x - m, s q and r add errors of a few u Y to |r|. All this is less than 64 u
 * (Y + E) E / s, which is added to (2) by adding 64 u (Y + E) to |r|, and 64 u |e| to |f|. A sum of
 * n squares has a relative error of at most (n + 2) u in any order (Higham, Accuracy and Stability
 * of Numerical Algorithms, 2002, section 3.1); all norms are therefore increased by (n + 16) 2 u.
 * With gradual underflow, a square below 2^-126 is wrong by 2^-150 at most, so 2^-60, which is more
 * than the norm of n such errors, is added to |r|, |e| and |f|. Centroids are ordered by their
 * distances in double precision, even if two distances differ only by their rounding errors, of (n
 * + 2) 2^-53 (Y + E)^2 at most; so B is raised by more than twice that. Scales are limited, so that
 * nothing overflows. Rows that are too large for such scales get an infinite |r| or |e|, so that
 * they are never ruled out.
 */
#ifndef COLL_KMEANS_ASSIGN_QUANTISED_H
#define COLL_KMEANS_ASSIGN_QUANTISED_H

#include "kmeans/assign/code_cache.h"
#include "kmeans/assign/group_bounds.h"
#include "kmeans/assign/kernel.h"

#include <stddef.h>
#include <stdint.h>

/* Quantised centroids. */
typedef struct km_quantised km_quantised;

/*
 * Quantises K ROWS of DIM features for KERNEL, using THREADS threads. The caller keeps ROWS for as
 * long as the result. If BOUNDS is not NULL, the caller has begun an assignment of all points of
 * BOUNDS with km_group_bounds_begin. The result may be used for that one assignment, which uses and
 * renews the bounds. If CACHE is not NULL, the codes of points in CACHE are used, and missing codes
 * are added. Free the result with km_quantised_free. Returns 0 or ENOMEM.
 */
int km_quantised_create(const float *rows, size_t k, size_t dim, const km_kernel *kernel,
                        km_group_bounds *bounds, km_code_cache *cache, int threads,
                        km_quantised **centroids);
void km_quantised_free(km_quantised *centroids);

/* Does the same as km_assign_query (assign.h), for points of float32. */
struct km_query;
int km_quantised_assign(const struct km_query *query, const km_quantised *centroids, int threads,
                        const uint32_t *guess, uint32_t *nearest, uint32_t *distance);

#endif
