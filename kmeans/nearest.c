/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/nearest.h"

#include "kmeans/assign/cluster_sums.h"
#include "kmeans/points/fixed_point.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

void km_find_distances(const km_points *points, size_t i, const uint8_t *centroids, size_t k,
                       double *distances) {
    size_t dim = points->dim, bytes = km_row_bytes(points);
    const uint8_t *point = points->data + i * bytes;
    const km_planes planes = {centroids, k, dim};
    for (size_t j = 0; j < k; j++)
        if (points->real.used)
            distances[j] = sqrt(km_real_distance2((const float *)point,
                                                  (const float *)centroids + j * dim, dim)) /
                           points->real.scale;
        else if (points->fixed_point)
            distances[j] =
                ldexp(sqrt((double)km_planes_distance2(&planes, j, point)), -KM_FRACTION_BITS);
        else
            distances[j] = sqrt((double)km_distance2(point, centroids + j * dim, dim));
}

/* Writes the indices of the COUNT least of K DISTANCES to LEAST, the index of the least first. */
static void find_least(const double *distances, size_t k, size_t count, uint32_t *least) {
    size_t found = 0;
    for (size_t j = 0; j < k; j++) {
        if (found == count && distances[j] >= distances[least[count - 1]])
            continue;
        size_t at = found < count ? found++ : count - 1;
        for (; at > 0 && distances[j] < distances[least[at - 1]]; at--)
            least[at] = least[at - 1];
        least[at] = (uint32_t)j;
    }
}

int km_find_nearest(const km_points *points, const uint8_t *centroids, size_t k, size_t count,
                    int threads, uint32_t *nearest, float *distances) {
    int error = 0;
#pragma omp parallel num_threads(threads)
    {
        double *all = malloc(k * sizeof *all);
        if (!all) {
#pragma omp atomic write
            error = ENOMEM;
        }
#pragma omp for schedule(dynamic, 64)
        for (size_t i = 0; i < points->rows; i++) {
            if (!all)
                continue;
            uint32_t *least = nearest + i * count;
            km_find_distances(points, i, centroids, k, all);
            find_least(all, k, count, least);
            for (size_t n = 0; distances && n < count; n++)
                distances[i * count + n] = (float)all[least[n]];
        }
        free(all);
    }
    return error;
}
