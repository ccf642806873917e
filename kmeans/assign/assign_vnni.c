/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel for AVX-512 VNNI. A tile is 32 points, 16 to a register, times 12 centroids: 24 sums
 * that stay in registers, enough to hide the latency of vpdpbusd (4 or 5 cycles, at two
 * instructions a cycle), and 14 loads for 24 instructions. vpdpbusd multiplies four unsigned bytes
 * of a point by four signed bytes of a centroid and adds the products to a 32-bit sum, wrapping
 * around.
 */
#include "kmeans/assign/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vnni")))

enum { LANES = 16, HALVES = 2, POINTS = LANES * HALVES, CENTROIDS = 12, GROUP = 4, BURNT = 12 };

/* sums += x * c; in assembly, because gcc 12 spills the sums to memory with an intrinsic. */
TARGET static inline void multiply_add(__m512i *sums, __m512i x, __m512i c) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(*sums) : "v"(x), "v"(c));
}

static bool supported(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vnni");
}

/*
 * Transposes 16 x 16 words of 32 bits. Interleaving the first half of the 256 words with the second
 * moves each word from the index with the binary digits abcdefgh to bcdefgha. Done four times, this
 * exchanges row abcd and column efgh.
 */
TARGET static void transpose(__m512i rows[LANES]) {
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(LANES / 2));
    for (int step = 0; step < 4; step++) {
        __m512i next[LANES];
#pragma GCC unroll 16
        for (int i = 0; i < LANES / 2; i++) {
            next[2 * i] = _mm512_permutex2var_epi32(rows[i], low, rows[i + LANES / 2]);
            next[2 * i + 1] = _mm512_permutex2var_epi32(rows[i], high, rows[i + LANES / 2]);
        }
        memcpy(rows, next, sizeof next);
    }
}

/*
 * Adds x (x - 256) = x (x - 128) - 128 x, two products with signed bytes as second factor, to SUMS.
 */
TARGET static __m512i add_correction(__m512i sums, __m512i x) {
    const __m512i minus128 = _mm512_set1_epi8(-128);
    multiply_add(&sums, x, _mm512_xor_si512(x, minus128));
    multiply_add(&sums, x, minus128);
    return sums;
}

TARGET static void pack(const uint8_t *rows, size_t n, size_t dim, void *panel,
                        uint32_t *corrections) {
    size_t groups = (dim + GROUP - 1) / GROUP;
    for (size_t half = 0; half < HALVES; half++) {
        __m512i sums = _mm512_setzero_si512();
        for (size_t group = 0; group < groups; group += LANES) {
            size_t left = dim - group * GROUP;
            __mmask64 mask = left < 64 ? ((__mmask64)1 << left) - 1 : ~(__mmask64)0;
            __m512i words[LANES];
            for (size_t i = 0; i < LANES; i++) {
                size_t point = half * LANES + i;
                words[i] = point < n
                               ? _mm512_maskz_loadu_epi8(mask, rows + point * dim + group * GROUP)
                               : _mm512_setzero_si512();
            }
            transpose(words);
            for (size_t i = 0; i < LANES && group + i < groups; i++) {
                _mm512_store_si512((__m512i *)panel + (group + i) * HALVES + half, words[i]);
                sums = add_correction(sums, words[i]);
            }
        }
        _mm512_storeu_si512(corrections + half * LANES, sums);
    }
}

/* Loads four bytes of memory into every lane. */
TARGET static inline __m512i broadcast(const uint8_t *memory) {
    int32_t word;
    memcpy(&word, memory, sizeof word);
    return _mm512_set1_epi32(word);
}

/* Adds the products of a tile to SUMS. Always inline, so that the sums stay in registers. */
TARGET __attribute__((always_inline)) static inline void
add_products(const void *points, const void *centroids, size_t groups,
             __m512i sums[CENTROIDS][HALVES]) {
    const __m512i *x = points;
    const uint8_t *c = centroids;
    for (size_t group = 0; group < groups; group++, x += HALVES, c += CENTROIDS * 4) {
        __m512i x0 = _mm512_load_si512(x), x1 = _mm512_load_si512(x + 1);
#pragma GCC unroll 12
        for (int j = 0; j < CENTROIDS; j++) {
            __m512i same = broadcast(c + j * 4);
            multiply_add(&sums[j][0], x0, same);
            multiply_add(&sums[j][1], x1, same);
        }
    }
}

TARGET __attribute__((always_inline)) static inline void
accumulate(const void *points, const void *centroids, size_t groups,
           __m512i sums[CENTROIDS][HALVES]) {
#pragma GCC unroll 12
    for (int j = 0; j < CENTROIDS; j++)
        sums[j][0] = sums[j][1] = _mm512_setzero_si512();
    add_products(points, centroids, groups, sums);
}

TARGET static void tile(const void *points, const uint32_t *corrections, const void *centroids,
                        const uint32_t *norms, size_t groups, uint32_t first, uint32_t *best,
                        uint32_t *nearest) {
    (void)corrections;
    __m512i sums[CENTROIDS][HALVES];
    accumulate(points, centroids, groups, sums);

#pragma GCC unroll 2
    for (int half = 0; half < HALVES; half++) {
        __m512i least = _mm512_loadu_si512(best + half * LANES);
        __m512i index = _mm512_loadu_si512(nearest + half * LANES);
#pragma GCC unroll 12
        for (int j = 0; j < CENTROIDS; j++) {
            __m512i norm = _mm512_set1_epi32((int32_t)norms[j]);
            __m512i score = _mm512_sub_epi32(norm, _mm512_slli_epi32(sums[j][half], 1));
            __mmask16 less = _mm512_cmplt_epu32_mask(score, least);
            least = _mm512_min_epu32(score, least);
            index = _mm512_mask_set1_epi32(index, less, (int32_t)(first + (uint32_t)j));
        }
        _mm512_storeu_si512(best + half * LANES, least);
        _mm512_storeu_si512(nearest + half * LANES, index);
    }
}

TARGET static void multiply(const void *points, const void *centroids, size_t groups,
                            int32_t *products) {
    __m512i sums[CENTROIDS][HALVES];
    accumulate(points, centroids, groups, sums);
#pragma GCC unroll 12
    for (int j = 0; j < CENTROIDS; j++) {
        _mm512_storeu_si512(products + j * POINTS, sums[j][0]);
        _mm512_storeu_si512(products + j * POINTS + LANES, sums[j][1]);
    }
}

/*
 * Appends the pairs whose bit in MASK is set, all of one centroid, to N PAIRS, and returns the new
 * number of pairs. CODES are the pairs as words.
 */
TARGET static inline size_t append_pairs(km_pair *pairs, size_t n, __mmask16 mask, __m512i codes) {
    _mm512_storeu_si512(pairs + n, _mm512_maskz_compress_epi32(mask, codes));
    return n + (size_t)__builtin_popcount(mask);
}

/* Returns whether any sum reaches the floor of its point. */
TARGET __attribute__((always_inline)) static inline bool any_left(__m512i sums[CENTROIDS][HALVES],
                                                                  __m512i low, __m512i high) {
    __m512i first = sums[0][0], second = sums[0][1];
#pragma GCC unroll 12
    for (int j = 1; j < CENTROIDS; j++) {
        first = _mm512_max_epi32(first, sums[j][0]);
        second = _mm512_max_epi32(second, sums[j][1]);
    }
    return _mm512_cmpge_epi32_mask(first, low) | _mm512_cmpge_epi32_mask(second, high);
}

TARGET static size_t find_candidates(const void *points, const void *centroids,
                                     const int32_t *starts, size_t groups, const int32_t *floors,
                                     km_pair *pairs) {
    __m512i sums[CENTROIDS][HALVES];
#pragma GCC unroll 12
    for (int j = 0; j < CENTROIDS; j++)
        sums[j][0] = sums[j][1] = _mm512_set1_epi32(starts[j]);
    add_products(points, centroids, groups, sums);
    __m512i low = _mm512_loadu_si512(floors), high = _mm512_loadu_si512(floors + LANES);
    bool any = any_left(sums, low, high);
    if (!any || !pairs)
        return any;
    /* A km_pair as a 32-bit word: the point, and 2^16 times the centroid. */
    const __m512i next = _mm512_set1_epi32(1 << 16), lanes = _mm512_set1_epi32(LANES);
    __m512i codes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    size_t n = 0;
#pragma GCC unroll 12
    for (int j = 0; j < CENTROIDS; j++, codes = _mm512_add_epi32(codes, next)) {
        n = append_pairs(pairs, n, _mm512_cmpge_epi32_mask(sums[j][0], low), codes);
        n = append_pairs(pairs, n, _mm512_cmpge_epi32_mask(sums[j][1], high),
                         _mm512_add_epi32(codes, lanes));
    }
    return n;
}

/* Sums up the 16 lanes of each of four registers. */
TARGET static __m128i add_lanes(const __m512i sums[4]) {
    __m256i folded[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        folded[i] = _mm256_add_epi32(_mm512_castsi512_si256(sums[i]),
                                     _mm512_extracti64x4_epi64(sums[i], 1));
    __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(folded[0], folded[1]),
                                    _mm256_hadd_epi32(folded[2], folded[3]));
    return _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

/* sums[i] += 64 products of x[i] and c[i] from dimension D on; only the products in MASK. */
TARGET __attribute__((always_inline)) static inline void multiply_chunks(__m512i sums[4],
                                                                         uint8_t const *const x[4],
                                                                         uint8_t const *const c[4],
                                                                         size_t d, __mmask64 mask) {
    const __m512i minus128 = _mm512_set1_epi8(-128);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        multiply_add(&sums[i], _mm512_maskz_loadu_epi8(mask, x[i] + d),
                     _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, c[i] + d), minus128));
}

TARGET static void multiply_rows(const uint8_t *const *points, const uint8_t *const *centroids,
                                 size_t dim, size_t n, int32_t *products) {
    for (size_t first = 0; first < n; first += 4) {
        const uint8_t *x[4], *c[4];
        __m512i sums[4];
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++) {
            size_t pair = first + i < n ? first + i : n - 1;
            x[i] = points[pair];
            c[i] = centroids[pair];
            sums[i] = _mm512_setzero_si512();
        }
        size_t d = 0;
        for (; d + 64 <= dim; d += 64)
            multiply_chunks(sums, x, c, d, ~(__mmask64)0);
        if (d < dim)
            multiply_chunks(sums, x, c, d, ((__mmask64)1 << (dim - d)) - 1);
        _mm_storeu_si128((__m128i *)(products + first), add_lanes(sums));
    }
}

TARGET static double burn(size_t rounds) {
    __m512i sums[BURNT], x = _mm512_set1_epi8(3);
#pragma GCC unroll 12
    for (int i = 0; i < BURNT; i++)
        sums[i] = _mm512_setzero_si512();
    for (size_t round = 0; round < rounds; round++) {
#pragma GCC unroll 12
        for (int i = 0; i < BURNT; i++)
            __asm__ volatile("vpdpbusd %1, %1, %0" : "+v"(sums[i]) : "v"(x));
    }
    return 2.0 * LANES * GROUP * BURNT * (double)rounds;
}

const km_kernel km_kernel_vnni = {
    .name = "avx512-vnni",
    .instruction = "vpdpbusd zmm",
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
