/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel in plain C, for any processor. The inner loop over 16 centroids has a fixed length, so
 * that the compiler can keep the sums in registers and use the processor's vector instructions.
 */
#include "kmeans/assign/kernel.h"
#include "kmeans/assign/pack.h"

#include <string.h>

enum { CENTROIDS = 16 };

static bool supported(void) {
    return true;
}

static void pack(const uint8_t *rows, size_t n, size_t dim, void *panel, uint32_t *corrections) {
    (void)n; /* a panel is one point */
    memcpy(panel, rows, dim);
    *corrections = km_correction(rows, dim);
}

static void multiply(const void *points, const void *centroids, size_t groups, int32_t *sums) {
    const uint8_t *x = points;
    const int8_t *c = centroids;
    memset(sums, 0, CENTROIDS * sizeof *sums);
    for (size_t d = 0; d < groups; d++, c += CENTROIDS)
        for (int j = 0; j < CENTROIDS; j++)
            sums[j] += x[d] * c[j];
}

static size_t find_candidates(const void *points, const void *centroids, const int32_t *starts,
                              size_t groups, const int32_t *floors, km_pair *pairs) {
    int32_t sums[CENTROIDS];
    size_t n = 0;
    multiply(points, centroids, groups, sums);
    for (uint16_t j = 0; j < CENTROIDS; j++)
        if (sums[j] + starts[j] >= *floors) {
            if (!pairs)
                return 1;
            pairs[n++] = (km_pair){0, j};
        }
    return n;
}

static int32_t multiply_pair(const uint8_t *x, const uint8_t *c, size_t dim) {
    int32_t sum = 0;
    for (size_t d = 0; d < dim; d++)
        sum += x[d] * (c[d] - 128);
    return sum;
}

#include "kmeans/assign/pairs.h"

static void tile(const void *points, const uint32_t *corrections, const void *centroids,
                 const uint32_t *norms, size_t groups, uint32_t first, uint32_t *best,
                 uint32_t *nearest) {
    (void)corrections;
    int32_t sums[CENTROIDS];
    multiply(points, centroids, groups, sums);
    for (int j = 0; j < CENTROIDS; j++) {
        uint32_t score = norms[j] - 2 * (uint32_t)sums[j];
        if (score < *best) {
            *best = score;
            *nearest = first + (uint32_t)j;
        }
    }
}

static double burn(size_t rounds) {
    static const int8_t factors[CENTROIDS] = {1, 2,  3,  4,  5,  6,  7,  8,
                                              9, 10, 11, 12, 13, 14, 15, 16};
    uint32_t sums[CENTROIDS] = {0};
    for (size_t round = 0; round < rounds; round++) {
        uint8_t x = (uint8_t)round;
        for (int j = 0; j < CENTROIDS; j++)
            sums[j] += (uint32_t)(x * factors[j]);
    }
    __asm__ volatile("" : : "m"(sums));
    return 2.0 * CENTROIDS * (double)rounds;
}

const km_kernel km_kernel_scalar = {
    .name = "scalar",
    .instruction = "plain C",
    .points = 1,
    .centroids = CENTROIDS,
    .group = 1,
    .element = 1,
    .quantised = &km_kernel_scalar_panel,
    KM_KERNEL_FUNCTIONS,
};

/* For quantised rows, a tile is PANEL points times PANEL centroids. */
enum { PANEL = 8 };

static void pack_panel(const uint8_t *rows, size_t n, size_t dim, void *panel,
                       uint32_t *corrections) {
    km_pack_bytes(rows, n, dim, PANEL, 1, panel, corrections);
}

static void multiply_panel(const void *points, const void *centroids, size_t groups,
                           int32_t *sums) {
    const uint8_t *x = points;
    const int8_t *c = centroids;
    memset(sums, 0, PANEL * PANEL * sizeof *sums);
    for (size_t d = 0; d < groups; d++, x += PANEL, c += PANEL)
        for (int j = 0; j < PANEL; j++)
            for (int i = 0; i < PANEL; i++)
                sums[j * PANEL + i] += x[i] * c[j];
}

const km_kernel km_kernel_scalar_panel = {
    .name = "scalar",
    .instruction = "plain C",
    .points = PANEL,
    .centroids = PANEL,
    .group = 1,
    .element = 1,
    .range = 127,
    .supported = supported,
    .pack = pack_panel,
    .pack_centroids = km_pack_centroids,
    .multiply = multiply_panel,
};
