#include "config.h"

#include "kmeans/update.h"

#include <string.h>

typedef struct update {
    uint8_t *centroids;
    uint64_t *counts;
    size_t dim;
} update;

uint64_t km_distance2(const uint8_t *a, const uint8_t *b, size_t dim) {
    uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < dim; i++) {
        int difference = a[i] - b[i];
        sum += (uint32_t)(difference * difference);
    }
    return sum;
}

static void set_mean(uint64_t cluster, uint64_t count, const uint64_t *sums, void *context) {
    const update *to = context;
    uint8_t *centroid = to->centroids + cluster * to->dim;
    to->counts[cluster] = count;
    for (size_t i = 0; i < to->dim; i++)
        centroid[i] = (uint8_t)((2 * sums[i] + count) / (2 * count));
}

bool km_update(const COLL_Pool *pool, uint64_t total, size_t k, size_t dim, uint8_t *centroids,
               uint64_t *counts, struct problem *problem) {
    update to = {centroids, counts, dim};
    memset(counts, 0, k * sizeof *counts);
    return km_partial_visit(pool, total, dim, set_mean, &to, problem);
}
