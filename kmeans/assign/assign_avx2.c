/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel for AVX2. Bytes are widened to 16 bits because vpmaddwd is exact: it multiplies two
 * dimensions of a point by two of a centroid and adds the products, at most 2 * 255 * 128 in all.
 * The byte instruction vpmaddubsw saturates.
 */
#include "kmeans/assign/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2")))

enum { GROUP = 2, STEP = 16 };

static bool supported(void) {
    return __builtin_cpu_supports("avx2");
}

/*
 * sums += x * c; in assembly, because gcc 12 spills the sums to memory when it orders intrinsics.
 */
TARGET static inline void multiply_add(__m256i *sums, __m256i x, __m256i c) {
    __m256i products;
    __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
            : "+x"(*sums), "=&x"(products)
            : "x"(x), "x"(c));
}

TARGET static inline void multiply_step(__m256i *sums, const uint8_t *x, const uint8_t *c) {
    __m256i wide = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)x));
    __m256i other = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)c));
    multiply_add(sums, wide, _mm256_sub_epi16(other, _mm256_set1_epi16(128)));
}

#include "kmeans/assign/tile_256.h"

/* Computes corrections[i] = sum x (x - 256), two dimensions at a time. */
TARGET static void compute_corrections(const __m256i *x, size_t groups, uint32_t *corrections) {
    __m256i sums[HALVES] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (size_t at = 0; at < groups * HALVES; at++)
        multiply_add(&sums[at % HALVES], x[at], _mm256_sub_epi16(x[at], _mm256_set1_epi16(256)));
    memcpy(corrections, sums, sizeof sums);
}

TARGET static void pack(const uint8_t *rows, size_t n, size_t dim, void *panel,
                        uint32_t *corrections) {
    uint32_t *pairs = panel;
    size_t groups = (dim + GROUP - 1) / GROUP;
    if (n < POINTS)
        memset(pairs, 0, groups * POINTS * sizeof *pairs);
    for (size_t i = 0; i < n; i++, rows += dim)
        for (size_t d = 0; d < dim; d += GROUP) {
            uint32_t second = d + 1 < dim ? rows[d + 1] : 0;
            pairs[d / GROUP * POINTS + i] = rows[d] | second << 16;
        }
    compute_corrections(panel, groups, corrections);
}

const km_kernel km_kernel_avx2 = {
    .name = "avx2",
    .instruction = "vpmaddwd + vpaddd ymm",
    .points = POINTS,
    .centroids = CENTROIDS,
    .group = GROUP,
    .element = 2,
    .quantised = &km_kernel_avx2_narrow,
    KM_KERNEL_FUNCTIONS,
};

#else
typedef int not_for_this_processor;
#endif
