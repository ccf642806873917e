/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/kernel.h"

#include "kmeans/points/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const km_kernel *const *km_kernel_list(void) {
    static const km_kernel *const kernels[] = {
#if defined(__x86_64__)
        &km_kernel_vnni,
        &km_kernel_avx_vnni,
        &km_kernel_avx2,
#elif defined(__AARCH64EL__) && defined(__linux__)
        &km_kernel_i8mm,
        &km_kernel_dotprod,
#endif
        &km_kernel_scalar,
        NULL,
    };
    return kernels;
}

/* Writes a centroid as number J of its panel; leaves the panel's other centroids as they are. */
static void pack_centroid(const km_kernel *kernel, const uint8_t *row, size_t dim, size_t j,
                          void *panel) {
    size_t at = j * kernel->group;
    for (size_t d = 0; d < dim; at += kernel->centroids * kernel->group)
        for (size_t i = 0; i < kernel->group && d < dim; i++, d++)
            if (kernel->element == 1)
                ((int8_t *)panel)[at + i] = (int8_t)(row[d] - 128);
            else
                ((int16_t *)panel)[at + i] = (int16_t)(row[d] - 128);
}

static uint32_t norm2(const uint8_t *row, size_t dim) {
    uint32_t sum = 0;
    for (size_t d = 0; d < dim; d++)
        sum += (uint32_t)row[d] * row[d];
    return sum;
}

void km_pack_centroids(const km_kernel *kernel, const uint8_t *rows, size_t n, size_t dim,
                       void *panel, uint32_t *norms) {
    size_t groups = dim / kernel->group + (dim % kernel->group != 0);
    memset(panel, 0, groups * kernel->group * kernel->element * kernel->centroids);
    for (size_t j = 0; j < n; j++) {
        pack_centroid(kernel, rows + j * dim, dim, j, panel);
        norms[j] = norm2(rows + j * dim, dim);
    }
    /* As the features are zeros, the score is the norm, so a missing centroid is never nearest. */
    for (size_t j = n; j < kernel->centroids; j++)
        norms[j] = KM_NO_SCORE;
}

const km_kernel *km_kernel_best(char *problem, size_t size) {
    const char *wanted = getenv("COLL_KMEANS_KERNEL");
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++)
        if ((!wanted || strcmp((*kernel)->name, wanted) == 0) && (*kernel)->supported())
            return *kernel;

    int length =
        snprintf(problem, size,
                 "COLL_KMEANS_KERNEL=%s: no such kernel here; allowed:", wanted ? wanted : "");
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++)
        if ((*kernel)->supported() && length >= 0 && (size_t)length < size)
            length += snprintf(problem + length, size - (size_t)length, " %s", (*kernel)->name);
    return NULL;
}
