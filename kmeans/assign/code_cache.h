/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Caches the codes of float32 points (quantised.h) from one assignment to the next. The codes are
 * relative to a fixed vector, the mean of a sample of the points. No MPI.
 */
#ifndef COLL_KMEANS_ASSIGN_CODE_CACHE_H
#define COLL_KMEANS_ASSIGN_CODE_CACHE_H

#include "kmeans/points/point_storage.h"

#include <stddef.h>
#include <stdint.h>

/* The numbers that are kept with the codes q of a point, y = s q + r; see quantised.h. */
typedef struct km_code_sizes {
    float scale;  /* s; 0: the codes have not been made */
    float norm;   /* at least |q| */
    float rest;   /* at least |r| plus those rounding errors that depend on the point alone */
    float square; /* |y|^2 */
} km_code_sizes;

typedef struct km_code_cache {
    float *mean;              /* subtracted from points */
    km_point_storage storage; /* of the codes, row after row */
    km_code_sizes *sizes;
} km_code_cache;

/*
 * Creates an empty cache for N rows of DIM features. Returns false if memory is short. Free CACHE
 * with km_code_cache_free, which does no harm after false.
 */
bool km_code_cache_create(const float *rows, size_t n, size_t dim, km_code_cache *cache);
void km_code_cache_free(km_code_cache *cache);

#endif
