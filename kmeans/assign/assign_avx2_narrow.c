/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel for AVX2 that multiplies quantised rows (quantised.h). vpmaddubsw multiplies 32 pairs
 * of bytes, twice as many as vpmaddwd (assign_avx2.c), but its sums of two products have only 16
 * bits. Points have 7 bits, and the centroids' absolute values in a lane of RUN groups add up to
 * KM_LANE_SUM at most. So the sum over a lane, at most 127 * KM_LANE_SUM, fits 16 bits and is
 * widened only once for RUN groups.
 *
 * A tile is 16 points, 8 to a register, times 6 centroids. Its 12 sums of 16 bits stay in
 * registers; the sums of 32 bits are in memory.
 */
#include "kmeans/assign/kernel.h"

#if defined(__x86_64__)

#include "kmeans/assign/pack.h"

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2")))

enum {
    LANES = 8,
    HALVES = 2,
    POINTS = LANES * HALVES,
    CENTROIDS = 6,
    GROUP = 4,
    RUN = KM_LANE / GROUP
};

static bool supported(void) {
    return __builtin_cpu_supports("avx2");
}

/*
 * sums = x * c, and sums += x * c; in assembly, because gcc 12 spills the sums to memory when it
 * orders intrinsics.
 */
TARGET static inline void multiply_first(__m256i *sums, __m256i x, __m256i c) {
    __asm__("vpmaddubsw %2, %1, %0" : "=x"(*sums) : "x"(x), "x"(c));
}

TARGET static inline void multiply_add(__m256i *sums, __m256i x, __m256i c) {
    __m256i products;
    __asm__("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0"
            : "+x"(*sums), "=&x"(products)
            : "x"(x), "x"(c));
}

/* Loads four bytes of memory into every lane. */
TARGET static inline __m256i broadcast(const uint8_t *memory) {
    int32_t word;
    memcpy(&word, memory, sizeof word);
    return _mm256_set1_epi32(word);
}

TARGET __attribute__((always_inline)) static inline void
add_group(const __m256i *x, const uint8_t *c, bool first, __m256i sums[CENTROIDS][HALVES]) {
    __m256i x0 = _mm256_load_si256(x), x1 = _mm256_load_si256(x + 1);
#pragma GCC unroll 6
    for (int j = 0; j < CENTROIDS; j++) {
        __m256i same = broadcast(c + j * GROUP);
        if (first) {
            multiply_first(&sums[j][0], x0, same);
            multiply_first(&sums[j][1], x1, same);
        } else {
            multiply_add(&sums[j][0], x0, same);
            multiply_add(&sums[j][1], x1, same);
        }
    }
}

/* Adds the sums of 16 bits to the sums of 32 bits. */
TARGET __attribute__((always_inline)) static inline void widen(__m256i sums[CENTROIDS][HALVES],
                                                               __m256i *wide) {
    const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 6
    for (int j = 0; j < CENTROIDS; j++)
#pragma GCC unroll 2
        for (int half = 0; half < HALVES; half++, wide++)
            _mm256_storeu_si256(wide, _mm256_add_epi32(_mm256_loadu_si256(wide),
                                                       _mm256_madd_epi16(sums[j][half], ones)));
}

TARGET static void multiply(const void *points, const void *centroids, size_t groups,
                            int32_t *products) {
    const __m256i *x = points;
    const uint8_t *c = centroids;
    __m256i sums[CENTROIDS][HALVES];
    memset(products, 0, sizeof sums);
    for (; groups >= RUN; groups -= RUN, x += RUN * HALVES, c += RUN * CENTROIDS * GROUP) {
        add_group(x, c, true, sums);
#pragma GCC unroll 3
        for (size_t group = 1; group < RUN; group++)
            add_group(x + group * HALVES, c + group * CENTROIDS * GROUP, false, sums);
        widen(sums, (__m256i *)products);
    }
    for (; groups > 0; groups--, x += HALVES, c += CENTROIDS * GROUP) {
        add_group(x, c, true, sums);
        widen(sums, (__m256i *)products);
    }
}

static void pack(const uint8_t *rows, size_t n, size_t dim, void *panel, uint32_t *corrections) {
    (void)corrections; /* distances of float32 features don't need them */
    km_lay_out(rows, n, dim, POINTS, GROUP, panel);
}

const km_kernel km_kernel_avx2_narrow = {
    .name = "avx2",
    .instruction = "vpmaddubsw + vpaddw ymm",
    .points = POINTS,
    .centroids = CENTROIDS,
    .group = GROUP,
    .element = 1,
    .range = 63,
    .lane_sum = KM_LANE_SUM,
    .supported = supported,
    .pack = pack,
    .pack_centroids = km_pack_centroids,
    .multiply = multiply,
};

#else
typedef int not_for_this_processor;
#endif
