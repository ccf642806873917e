/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code shared by the kernels for 64-bit ARM, whose registers hold 4 sums of 32 bits. A kernel's
 * file includes this after it has defined
 *
 *     TARGET      the attribute of functions that use its instructions: dot products at least
 *     CENTROIDS   centroids in a panel
 *     VECTORS     registers with the sums of a panel of points and one centroid
 *     FLIPPED     the number with which each byte of a panel of points is XORed
 *     GROUP       consecutive dimensions of one row in a panel
 *     INSTRUCTION the name of the instruction that does the work
 *     PRODUCTS    the number of products that one INSTRUCTION computes
 *     accumulate  computes the products of a tile
 */
#ifndef COLL_KMEANS_ASSIGN_TILE_NEON_H
#define COLL_KMEANS_ASSIGN_TILE_NEON_H

enum { LANES = 4, POINTS = LANES * VECTORS };

TARGET static void pack(const uint8_t *rows, size_t n, size_t dim, void *panel,
                        uint32_t *corrections) {
    uint8_t *bytes = panel;
    km_pack_bytes(rows, n, dim, POINTS, GROUP, bytes, corrections);
    size_t size = (dim + GROUP - 1) / GROUP * GROUP * POINTS;
    for (size_t i = 0; FLIPPED && i < size; i += sizeof(uint8x16_t))
        vst1q_u8(bytes + i, veorq_u8(vld1q_u8(bytes + i), vdupq_n_u8(FLIPPED)));
}

TARGET static void tile(const void *points, const uint32_t *corrections, const void *centroids,
                        const uint32_t *norms, size_t groups, uint32_t first, uint32_t *best,
                        uint32_t *nearest) {
    (void)corrections;
    int32x4_t sums[CENTROIDS][VECTORS];
    accumulate(points, centroids, groups, sums);

#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
        uint32x4_t least = vld1q_u32(best + v * LANES), index = vld1q_u32(nearest + v * LANES);
#pragma GCC unroll 16
        for (int j = 0; j < CENTROIDS; j++) {
            uint32x4_t twice = vreinterpretq_u32_s32(vshlq_n_s32(sums[j][v], 1));
            uint32x4_t score = vsubq_u32(vdupq_n_u32(norms[j]), twice);
            uint32x4_t less = vcltq_u32(score, least);
            least = vminq_u32(score, least);
            index = vbslq_u32(less, vdupq_n_u32(first + (uint32_t)j), index);
        }
        vst1q_u32(best + v * LANES, least);
        vst1q_u32(nearest + v * LANES, index);
    }
}

TARGET static void multiply(const void *points, const void *centroids, size_t groups,
                            int32_t *products) {
    int32x4_t sums[CENTROIDS][VECTORS];
    accumulate(points, centroids, groups, sums);
    memcpy(products, sums, sizeof sums);
}

/*
 * Appends a pair of a point and centroid J for each of the four points from number FIRST on whose
 * lane in LEFT is set. Returns the new number of pairs.
 */
TARGET static inline size_t append_pairs(km_pair *pairs, size_t n, uint32x4_t left, int first,
                                         int j) {
    enum { BITS = 16 }; /* of each lane after narrowing */
    uint64_t mask = vget_lane_u64(vreinterpret_u64_u16(vmovn_u32(left)), 0);
    while (mask) {
        int lane = __builtin_ctzll(mask) / BITS;
        pairs[n++] = (km_pair){(uint16_t)(first + lane), (uint16_t)j};
        mask &= ~(UINT64_C(0xffff) << lane * BITS);
    }
    return n;
}

TARGET static size_t find_candidates(const void *points, const void *centroids,
                                     const int32_t *starts, size_t groups, const int32_t *floors,
                                     km_pair *pairs) {
    int32x4_t sums[CENTROIDS][VECTORS];
    size_t n = 0;
    accumulate(points, centroids, groups, sums);
    for (int j = 0; j < CENTROIDS; j++)
        for (int v = 0; v < VECTORS; v++) {
            int32x4_t score = vaddq_s32(sums[j][v], vdupq_n_s32(starts[j]));
            uint32x4_t left = vcgeq_s32(score, vld1q_s32(floors + v * LANES));
            n = pairs ? append_pairs(pairs, n, left, v * LANES, j) : n | vmaxvq_u32(left);
        }
    return n;
}

/* x.(c - 128) = x.c - x.128 */
TARGET static int32_t multiply_pair(const uint8_t *x, const uint8_t *c, size_t dim) {
    enum { STEP = 16 };
    uint32x4_t sums = vdupq_n_u32(0), away = sums;
    size_t d = 0;
    for (; d + STEP <= dim; d += STEP) {
        uint8x16_t own = vld1q_u8(x + d);
        sums = vdotq_u32(sums, own, vld1q_u8(c + d));
        away = vdotq_u32(away, own, vdupq_n_u8(128));
    }
    int32_t sum = (int32_t)vaddvq_u32(vsubq_u32(sums, away));
    for (; d < dim; d++)
        sum += x[d] * (c[d] - 128);
    return sum;
}

#include "kmeans/assign/pairs.h"

TARGET static double burn(size_t rounds) {
    enum { BURNT = 16 };
    int32x4_t sums[BURNT];
    int8x16_t x = vdupq_n_s8(3);
#pragma GCC unroll 16
    for (int i = 0; i < BURNT; i++)
        sums[i] = vdupq_n_s32(0);
    for (size_t round = 0; round < rounds; round++) {
#pragma GCC unroll 16
        for (int i = 0; i < BURNT; i++)
            __asm__ volatile(INSTRUCTION " %0.4s, %1.16b, %1.16b" : "+w"(sums[i]) : "w"(x));
    }
    return 2.0 * PRODUCTS * BURNT * (double)rounds;
}

#endif
