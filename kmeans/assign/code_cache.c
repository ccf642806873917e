/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/code_cache.h"

#include "kmeans/points/memory.h"

enum { SAMPLE = 1024 }; /* the mean is taken over this many rows at least, if there are as many */

static void compute_mean(const float *rows, size_t n, size_t dim, double *sums, float *mean) {
    const size_t step = km_larger(n / SAMPLE, 1);
    size_t count = 0;
    for (size_t i = 0; i < n; i += step, count++)
        for (size_t d = 0; d < dim; d++)
            sums[d] += (double)rows[i * dim + d];
    for (size_t d = 0; d < dim; d++)
        mean[d] = (float)(sums[d] / (double)km_larger(count, 1));
}

bool km_code_cache_create(const float *rows, size_t n, size_t dim, km_code_cache *cache) {
    app_problem problem = {""}; /* its text is ignored, since everything works without the cache */
    double *sums = calloc(dim, sizeof *sums);
    *cache = (km_code_cache){.mean = km_allocate(dim, sizeof *cache->mean),
                             .sizes = calloc(n + 1, sizeof *cache->sizes)};
    const bool good = sums && cache->mean && cache->sizes &&
                      km_point_storage_create(&cache->storage, n * dim, NULL, &problem);
    if (good)
        compute_mean(rows, n, dim, sums, cache->mean);
    else
        km_code_cache_free(cache);
    free(sums);
    return good;
}

void km_code_cache_free(km_code_cache *cache) {
    km_point_storage_free(&cache->storage);
    free(cache->mean);
    free(cache->sizes);
    *cache = (km_code_cache){.mean = NULL};
}
