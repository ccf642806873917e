/*
 * The kernel for AVX2. A tile is 16 points, 8 to a register, times 4 centroids: 8 sums in
 * registers. Bytes are widened to 16 bits, for vpmaddwd is exact: it multiplies two of a point by
 * two of a centroid and adds the products, at most 2 * 255 * 128. The byte instruction vpmaddubsw
 * saturates.
 */
#include "kmeans/assign/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2")))

enum { LANES = 8, HALVES = 2, POINTS = LANES * HALVES, CENTROIDS = 6, GROUP = 2, BURNT = 8 };

static bool supported(void) {
    return __builtin_cpu_supports("avx2");
}

/* sums += x * c; as assembly, for gcc 12 spills the sums to memory when it orders these itself. */
TARGET static inline void multiply_add(__m256i *sums, __m256i x, __m256i c) {
    __m256i products;
    __asm__("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0"
            : "+x"(*sums), "=&x"(products)
            : "x"(x), "x"(c));
}

/* corrections[i] = sum x (x - 256), two dimensions at a time. */
TARGET static void correct(const __m256i *x, size_t groups, uint32_t *corrections) {
    __m256i sums[HALVES] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (size_t at = 0; at < groups * HALVES; at++)
        multiply_add(&sums[at % HALVES], x[at], _mm256_sub_epi16(x[at], _mm256_set1_epi16(256)));
    memcpy(corrections, sums, sizeof sums);
}

/* Four bytes of memory in every lane. */
TARGET static inline __m256i broadcast(const uint8_t *memory) {
    int32_t word;
    memcpy(&word, memory, sizeof word);
    return _mm256_set1_epi32(word);
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
    correct(panel, groups, corrections);
}

/* The products of a tile; always inline, so that the sums stay in registers. */
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
                        uint32_t *nearest, void *scratch) {
    (void)corrections, (void)scratch;
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

/* A bit for each lane where SUMS is not below FLOORS. */
TARGET static inline uint32_t mask_of(__m256i sums, __m256i floors) {
    __m256i below = _mm256_cmpgt_epi32(floors, sums);
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(below)) ^ 0xff;
}

TARGET static size_t sift(const void *points, const void *centroids, const int32_t *halves,
                          size_t groups, const int32_t *floors, km_pair *pairs) {
    __m256i sums[CENTROIDS][HALVES];
    accumulate(points, centroids, groups, sums);
    __m256i low = _mm256_loadu_si256((const __m256i *)floors);
    __m256i high = _mm256_loadu_si256((const __m256i *)floors + 1);
    uint32_t masks[CENTROIDS];
#pragma GCC unroll 6
    for (int j = 0; j < CENTROIDS; j++) {
        __m256i half = _mm256_set1_epi32(halves[j]);
        masks[j] = mask_of(_mm256_sub_epi32(sums[j][0], half), low) |
                   mask_of(_mm256_sub_epi32(sums[j][1], half), high) << LANES;
    }
    size_t n = 0;
    for (uint16_t j = 0; j < CENTROIDS; j++)
        for (uint32_t mask = masks[j]; mask; mask &= mask - 1)
            pairs[n++] = (km_pair){(uint16_t)__builtin_ctz(mask), j};
    return n;
}

TARGET static int32_t multiply_pair(const uint8_t *x, const uint8_t *c, size_t dim) {
    enum { STEP = 16 };
    const __m256i bias = _mm256_set1_epi16(128);
    __m256i sums = _mm256_setzero_si256();
    size_t d = 0;
    for (; d + STEP <= dim; d += STEP) {
        __m256i wide = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(x + d)));
        __m256i other = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(c + d)));
        multiply_add(&sums, wide, _mm256_sub_epi16(other, bias));
    }
    int32_t lanes[LANES], sum = 0;
    memcpy(lanes, &sums, sizeof lanes);
    for (int i = 0; i < LANES; i++)
        sum += lanes[i];
    for (; d < dim; d++)
        sum += x[d] * (c[d] - 128);
    return sum;
}

static void multiply_pairs(const uint8_t *points, const uint8_t *centroids, size_t dim,
                           const km_pair *pairs, size_t n, int32_t *products) {
    for (size_t i = 0; i < n; i++)
        products[i] =
            multiply_pair(points + pairs[i].point * dim, centroids + pairs[i].centroid * dim, dim);
}

TARGET static double burn(size_t rounds) {
    __m256i sums[BURNT], x = _mm256_set1_epi16(3);
#pragma GCC unroll 8
    for (int i = 0; i < BURNT; i++)
        sums[i] = _mm256_setzero_si256();
    for (size_t round = 0; round < rounds; round++) {
#pragma GCC unroll 8
        for (int i = 0; i < BURNT; i++) {
            __m256i products;
            __asm__ volatile("vpmaddwd %2, %2, %1\n\tvpaddd %1, %0, %0"
                             : "+x"(sums[i]), "=&x"(products)
                             : "x"(x));
        }
    }
    return 2.0 * LANES * GROUP * BURNT * (double)rounds;
}

const km_kernel km_kernel_avx2 = {
    .name = "avx2",
    .instruction = "vpmaddwd + vpaddd ymm",
    .points = POINTS,
    .centroids = CENTROIDS,
    .group = GROUP,
    .element = 2,
    .supported = supported,
    .pack = pack,
    .pack_centroids = km_pack_centroids,
    .tile = tile,
    .multiply = multiply,
    .sift = sift,
    .multiply_pairs = multiply_pairs,
    .burn = burn,
};

#else
typedef int not_for_this_processor;
#endif
