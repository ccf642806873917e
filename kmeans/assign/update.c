#include "config.h"

#include "kmeans/assign/update.h"

#include <string.h>

typedef struct update {
    uint8_t *centroids;
    uint64_t *counts;
    const km_points *points;
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

double km_way2(const km_points *points, const uint8_t *a, const uint8_t *b) {
    if (points->real.used)
        return km_real_distance2((const float *)a, (const float *)b, points->dim);
    return (double)km_distance2(a, b, points->dim);
}

static void set_real_mean(const km_points *points, uint64_t count, const uint64_t *sums,
                          float *centroid) {
    for (size_t i = 0; i < points->dim; i++)
        centroid[i] = km_real_mean(&points->real, (int64_t)sums[i], count);
}

static void set_mean(uint64_t cluster, uint64_t count, const uint64_t *sums, void *context) {
    const update *to = context;
    uint8_t *centroid = to->centroids + cluster * km_row_bytes(to->points);
    to->counts[cluster] = count;
    if (to->points->real.used) {
        set_real_mean(to->points, count, sums, (float *)centroid);
        return;
    }
    for (size_t i = 0; i < to->points->dim; i++)
        centroid[i] = (uint8_t)((2 * sums[i] + count) / (2 * count));
}

bool km_update(const COLL_Pool *pool, const km_points *points, size_t k, uint8_t *centroids,
               uint64_t *counts, app_problem *problem) {
    update to = {centroids, counts, points};
    memset(counts, 0, k * sizeof *counts);
    return km_partial_visit(pool, points, set_mean, &to, problem);
}
