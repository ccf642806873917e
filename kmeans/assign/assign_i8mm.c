/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel for 64-bit ARM with byte matrix products (FEAT_I8MM: Neoverse V1 and N2, Apple M2).
 * usmmla multiplies eight unsigned bytes of each of two points by eight signed bytes of each of two
 * centroids and adds the products to four 32-bit sums. A tile is 8 points times 10 centroids: 20
 * registers of sums, and 9 loads for 20 instructions.
 */
#include "kmeans/assign/kernel.h"

#if defined(__AARCH64EL__) && defined(__linux__)

#include "kmeans/assign/pack.h"

#include <arm_neon.h>
#include <sys/auxv.h>

#define TARGET __attribute__((target("arch=armv8.2-a+dotprod+i8mm")))

#define INSTRUCTION "usmmla"
enum { PRODUCTS = 32, CENTROIDS = 10, VECTORS = 2, FLIPPED = 0, GROUP = 8, PAIRS = 2 * VECTORS };

static bool supported(void) {
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP && getauxval(AT_HWCAP2) & HWCAP2_I8MM;
}

TARGET __attribute__((always_inline)) static inline void
accumulate(const void *points, const void *centroids, size_t groups,
           int32x4_t sums[CENTROIDS][VECTORS]) {
    int32x4_t blocks[CENTROIDS / 2]
                    [PAIRS]; /* products of two centroids and two points: 00, 10, 01, 11 */
#pragma GCC unroll 12
    for (int j = 0; j < CENTROIDS / 2; j++)
#pragma GCC unroll 12
        for (int pair = 0; pair < PAIRS; pair++)
            blocks[j][pair] = vdupq_n_s32(0);

    const uint8_t *x = points;
    const int8_t *c = centroids;
    for (size_t group = 0; group < groups; group++) {
        uint8x16_t loaded[PAIRS];
#pragma GCC unroll 12
        for (int pair = 0; pair < PAIRS; pair++, x += sizeof *loaded)
            loaded[pair] = vld1q_u8(x);
#pragma GCC unroll 12
        for (int j = 0; j < CENTROIDS / 2; j++, c += sizeof(int8x16_t)) {
            int8x16_t two = vld1q_s8(c);
#pragma GCC unroll 12
            for (int pair = 0; pair < PAIRS; pair++)
                blocks[j][pair] = vusmmlaq_s32(blocks[j][pair], loaded[pair], two);
        }
    }
#pragma GCC unroll 12
    for (int j = 0; j < CENTROIDS / 2; j++)
#pragma GCC unroll 12
        for (int v = 0; v < VECTORS; v++) {
            sums[2 * j][v] = vuzp1q_s32(blocks[j][2 * v], blocks[j][2 * v + 1]);
            sums[2 * j + 1][v] = vuzp2q_s32(blocks[j][2 * v], blocks[j][2 * v + 1]);
        }
}

#include "kmeans/assign/tile_neon.h"

const km_kernel km_kernel_i8mm = {
    .name = "neon-i8mm",
    .instruction = INSTRUCTION,
    .points = POINTS,
    .centroids = CENTROIDS,
    .group = GROUP,
    .element = 1,
    .range = 127,
    KM_KERNEL_FUNCTIONS,
};

#else
typedef int not_for_this_processor;
#endif
