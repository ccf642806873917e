/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel for AVX-VNNI, for processors without AVX-512: vpdpbusd in 256 bits. It multiplies four
 * unsigned bytes of a point by four signed bytes of a centroid and adds the products to a 32-bit
 * sum, wrapping around.
 */
#include "kmeans/assign/kernel.h"

#if defined(__x86_64__)

#include "kmeans/assign/pack.h"

#include <cpuid.h>
#include <immintrin.h>

/* The instruction itself is in assembly, so that compilers need not know AVX-VNNI. */
#define TARGET __attribute__((target("avx2")))

enum { GROUP = 4, STEP = 32 };

/*
 * Checks the CPUID bit of AVX-VNNI, and AVX2: gcc's test for AVX2 also checks that the operating
 * system saves the AVX registers.
 */
static bool supported(void) {
    unsigned int eax = 0, ebx, ecx, edx;
    return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) &&
           eax >> 4 & 1;
}

/* sums += x * c */
TARGET static inline void multiply_add(__m256i *sums, __m256i x, __m256i c) {
    __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(*sums) : "x"(x), "x"(c));
}

TARGET static inline void multiply_step(__m256i *sums, const uint8_t *x, const uint8_t *c) {
    __m256i other = _mm256_loadu_si256((const __m256i *)c);
    multiply_add(sums, _mm256_loadu_si256((const __m256i *)x),
                 _mm256_xor_si256(other, _mm256_set1_epi8(-128)));
}

#include "kmeans/assign/tile_256.h"

TARGET static void pack(const uint8_t *rows, size_t n, size_t dim, void *panel,
                        uint32_t *corrections) {
    km_pack_bytes(rows, n, dim, POINTS, GROUP, panel, corrections);
}

const km_kernel km_kernel_avx_vnni = {
    .name = "avx-vnni",
    .instruction = "vpdpbusd ymm",
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
