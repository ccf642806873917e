/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code shared by the kernels with registers of 256 bits: a tile is 16 points, 8 to a register,
 * times 6 centroids, with 12 sums that stay in registers. A kernel's file includes this after it
 * has defined
 *
 *     TARGET        the attribute of functions that use its instructions
 *     GROUP         dimensions in 32 bits of a panel
 *     STEP          dimensions that multiply_step processes
 *     multiply_add  sums += x * c, of 8 groups each
 *     multiply_step the same for STEP bytes of a point and of a centroid
 */
#ifndef COLL_KMEANS_ASSIGN_TILE_256_H
#define COLL_KMEANS_ASSIGN_TILE_256_H

enum { LANES = 8, HALVES = 2, POINTS = LANES * HALVES, CENTROIDS = 6 };

/* Loads four bytes of memory into every lane. */
TARGET static inline __m256i broadcast(const uint8_t *memory) {
    int32_t word;
    memcpy(&word, memory, sizeof word);
    return _mm256_set1_epi32(word);
}

/* Computes the products of a tile. Always inline, so that the sums stay in registers. */
TARGET __attribute__((always_inline)) static inline void
accumulate(const void *points, const void *centroids, size_t groups,
           __m256i sums[CENTROIDS][HALVES]) {
#pragma GCC unroll 6
    for (int j = 0; j < CENTROIDS; j++)
        sums[j][0] = sums[j][1] = _mm256_setzero_si256();

    const __m256i *x = points;
    const uint8_t *c = centroids;
    for (size_t group = 0; group < groups; group++, x += HALVES, c += CENTROIDS * 4) {
        __m256i x0 = _mm256_load_si256(x), x1 = _mm256_load_si256(x + 1);
#pragma GCC unroll 6
        for (int j = 0; j < CENTROIDS; j++) {
            __m256i same = broadcast(c + j * 4);
            multiply_add(&sums[j][0], x0, same);
            multiply_add(&sums[j][1], x1, same);
        }
    }
}

TARGET static void tile(const void *points, const uint32_t *corrections, const void *centroids,
                        const uint32_t *norms, size_t groups, uint32_t first, uint32_t *best,
                        uint32_t *nearest) {
    (void)corrections;
    __m256i sums[CENTROIDS][HALVES];
    accumulate(points, centroids, groups, sums);

#pragma GCC unroll 2
    for (int half = 0; half < HALVES; half++) {
        __m256i least = _mm256_loadu_si256((__m256i *)best + half);
        __m256i index = _mm256_loadu_si256((__m256i *)nearest + half);
#pragma GCC unroll 6
        for (int j = 0; j < CENTROIDS; j++) {
            __m256i norm = _mm256_set1_epi32((int32_t)norms[j]);
            __m256i score = _mm256_sub_epi32(norm, _mm256_slli_epi32(sums[j][half], 1));
            __m256i lower = _mm256_min_epu32(score, least);
            __m256i kept = _mm256_cmpeq_epi32(lower, least);
            __m256i number = _mm256_set1_epi32((int32_t)(first + (uint32_t)j));
            index = _mm256_blendv_epi8(number, index, kept);
            least = lower;
        }
        _mm256_storeu_si256((__m256i *)best + half, least);
        _mm256_storeu_si256((__m256i *)nearest + half, index);
    }
}

TARGET static void multiply(const void *points, const void *centroids, size_t groups,
                            int32_t *products) {
    __m256i sums[CENTROIDS][HALVES];
    accumulate(points, centroids, groups, sums);
    memcpy(products, sums, sizeof sums);
}

/* Returns a bit for each lane whose sum is not below its floor. */
TARGET static inline uint32_t mask_of(__m256i sums, __m256i floors) {
    __m256i below = _mm256_cmpgt_epi32(floors, sums);
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(below)) ^ 0xff;
}

TARGET static size_t find_candidates(const void *points, const void *centroids,
                                     const int32_t *starts, size_t groups, const int32_t *floors,
                                     km_pair *pairs) {
    __m256i sums[CENTROIDS][HALVES];
    accumulate(points, centroids, groups, sums);
    __m256i low = _mm256_loadu_si256((const __m256i *)floors);
    __m256i high = _mm256_loadu_si256((const __m256i *)floors + 1);
    uint32_t masks[CENTROIDS];
#pragma GCC unroll 6
    for (int j = 0; j < CENTROIDS; j++) {
        __m256i start = _mm256_set1_epi32(starts[j]);
        masks[j] = mask_of(_mm256_add_epi32(sums[j][0], start), low) |
                   mask_of(_mm256_add_epi32(sums[j][1], start), high) << LANES;
    }
    size_t n = 0;
    if (!pairs) {
        for (int j = 0; j < CENTROIDS; j++)
            n |= masks[j];
        return n;
    }
    for (uint16_t j = 0; j < CENTROIDS; j++)
        for (uint32_t mask = masks[j]; mask; mask &= mask - 1)
            pairs[n++] = (km_pair){(uint16_t)__builtin_ctz(mask), j};
    return n;
}

TARGET static int32_t multiply_pair(const uint8_t *x, const uint8_t *c, size_t dim) {
    __m256i sums = _mm256_setzero_si256();
    size_t d = 0;
    for (; d + STEP <= dim; d += STEP)
        multiply_step(&sums, x + d, c + d);
    int32_t lanes[LANES], sum = 0;
    memcpy(lanes, &sums, sizeof lanes);
    for (int i = 0; i < LANES; i++)
        sum += lanes[i];
    for (; d < dim; d++)
        sum += x[d] * (c[d] - 128);
    return sum;
}

#include "kmeans/assign/pairs.h"

TARGET static double burn(size_t rounds) {
    enum { BURNT = 10 };
    __m256i sums[BURNT], x = _mm256_set1_epi16(3);
#pragma GCC unroll 10
    for (int i = 0; i < BURNT; i++)
        sums[i] = _mm256_setzero_si256();
    for (size_t round = 0; round < rounds; round++) {
#pragma GCC unroll 10
        for (int i = 0; i < BURNT; i++)
            multiply_add(&sums[i], x, x);
    }
#pragma GCC unroll 10
    for (int i = 0; i < BURNT; i++)
        __asm__ volatile("" : : "x"(sums[i])); /* keeps the compiler from removing the loop */
    return 2.0 * LANES * GROUP * BURNT * (double)rounds;
}

#endif
