/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel for 64-bit ARM with dot products (FEAT_DotProd: Neoverse N1, Cortex A76, Apple M1).
 * sdot multiplies four signed bytes by four and adds the products to a 32-bit sum. Points are
 * unsigned, so a panel holds x - 128, and the difference is added at the end:
 *
 *     x.(c - 128) = (x - 128).(c - 128) + 128 sum (c - 128).
 *
 * A tile is 12 points, 4 to a register, times 8 centroids: 24 sums in registers, two more for the
 * sums of the centroids themselves, and 5 loads for 26 instructions.
 */
#include "kmeans/assign/kernel.h"

#if defined(__AARCH64EL__) && defined(__linux__)

#include "kmeans/assign/pack.h"

#include <arm_neon.h>
#include <sys/auxv.h>

#define TARGET __attribute__((target("arch=armv8.2-a+dotprod")))

#define INSTRUCTION "sdot"
enum { PRODUCTS = 16, CENTROIDS = 8, VECTORS = 3, FLIPPED = 0x80, GROUP = 4, LOADED = 4 };

static bool supported(void) {
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
}

/* sums[V] += X[V] * lane LANE of C. LANE is a constant because the instruction encodes it. */
#define MULTIPLY_ADD(sums, x, c, lane)                                                             \
    _Pragma("GCC unroll 3") for (int v = 0; v < VECTORS; v++)(sums)[v] =                           \
        vdotq_laneq_s32((sums)[v], (x)[v], c, lane)

TARGET __attribute__((always_inline)) static inline void
accumulate(const void *points, const void *centroids, size_t groups,
           int32x4_t sums[CENTROIDS][VECTORS]) {
    int32x4_t own[CENTROIDS / LOADED];
#pragma GCC unroll 12
    for (int j = 0; j < CENTROIDS; j++)
#pragma GCC unroll 12
        for (int v = 0; v < VECTORS; v++)
            sums[j][v] = vdupq_n_s32(0);
#pragma GCC unroll 12
    for (int j = 0; j < CENTROIDS / LOADED; j++)
        own[j] = vdupq_n_s32(0);

    const int8_t *x = points, *c = centroids;
    for (size_t group = 0; group < groups; group++) {
        int8x16_t loaded[VECTORS];
#pragma GCC unroll 12
        for (int v = 0; v < VECTORS; v++, x += sizeof *loaded)
            loaded[v] = vld1q_s8(x);
#pragma GCC unroll 12
        for (int j = 0; j < CENTROIDS; j += LOADED, c += sizeof *loaded) {
            int8x16_t four = vld1q_s8(c);
            own[j / LOADED] = vdotq_s32(own[j / LOADED], four, vdupq_n_s8(1));
            MULTIPLY_ADD(sums[j], loaded, four, 0);
            MULTIPLY_ADD(sums[j + 1], loaded, four, 1);
            MULTIPLY_ADD(sums[j + 2], loaded, four, 2);
            MULTIPLY_ADD(sums[j + 3], loaded, four, 3);
        }
    }
    int32_t more[CENTROIDS];
#pragma GCC unroll 12
    for (int j = 0; j < CENTROIDS; j += LOADED)
        vst1q_s32(more + j, vshlq_n_s32(own[j / LOADED], 7));
#pragma GCC unroll 12
    for (int j = 0; j < CENTROIDS; j++)
#pragma GCC unroll 12
        for (int v = 0; v < VECTORS; v++)
            sums[j][v] = vaddq_s32(sums[j][v], vdupq_n_s32(more[j]));
}

#include "kmeans/assign/tile_neon.h"

const km_kernel km_kernel_dotprod = {
    .name = "neon-dotprod",
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
