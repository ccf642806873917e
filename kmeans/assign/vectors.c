/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/vectors.h"

#include <string.h>

/* The loops are compiled once for each instruction set. */
#define LOOP __attribute__((always_inline)) static inline

LOOP float dot(const float *a, const float *b, size_t n) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

LOOP void add_multiple(float *sum, float factor, const float *row, size_t n) {
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        sum[i] += factor * row[i];
}

LOOP void round_numbers(const int32_t *numbers, size_t n, int32_t offset, float scale,
                        uint8_t *bytes, float *squares) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        float number = (float)(numbers[i] - offset) * scale + 128;
        float clamped = number < 0 ? 0 : number > 255 ? 255 : number;
        int rounded = (int)(clamped + 0.5F);
        float error = clamped - (float)rounded;
        squares[i] += error * error;
        bytes[i] = (uint8_t)rounded;
    }
}

LOOP void image_squares(const float *lower, size_t size, const int32_t *numbers,
                        const int32_t *offsets, size_t n, float *squares) {
    float y[KM_VECTORS * KM_VECTORS], image[KM_VECTORS];
    for (size_t j = 0; j < size; j++) {
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            y[j * n + i] = (float)(numbers[j * n + i] - offsets[j]);
    }
    memset(squares, 0, n * sizeof *squares);
    for (size_t row = 0; row < size; row++) {
        memset(image, 0, n * sizeof *image);
        for (size_t j = 0; j <= row; j++)
            add_multiple(image, lower[row * size + j], y + j * n, n);
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            squares[i] += image[i] * image[i];
    }
}

typedef struct loops {
    float (*dot)(const float *a, const float *b, size_t n);
    void (*add_multiple)(float *sum, float factor, const float *row, size_t n);
    void (*round_numbers)(const int32_t *numbers, size_t n, int32_t offset, float scale,
                          uint8_t *bytes, float *squares);
    void (*image_squares)(const float *lower, size_t size, const int32_t *numbers,
                          const int32_t *offsets, size_t n, float *squares);
} loops;

/* Defines the loops with NAME, for TARGET. */
#define DEFINE_LOOPS(name, target)                                                                 \
    target static float name##_dot(const float *a, const float *b, size_t n) {                     \
        return dot(a, b, n);                                                                       \
    }                                                                                              \
    target static void name##_add_multiple(float *sum, float factor, const float *row, size_t n) { \
        add_multiple(sum, factor, row, n);                                                         \
    }                                                                                              \
    target static void name##_round_numbers(const int32_t *numbers, size_t n, int32_t offset,      \
                                            float scale, uint8_t *bytes, float *squares) {         \
        round_numbers(numbers, n, offset, scale, bytes, squares);                                  \
    }                                                                                              \
    target static void name##_image_squares(const float *lower, size_t size,                       \
                                            const int32_t *numbers, const int32_t *offsets,        \
                                            size_t n, float *squares) {                            \
        image_squares(lower, size, numbers, offsets, n, squares);                                  \
    }                                                                                              \
    static const loops name##_loops = {name##_dot, name##_add_multiple, name##_round_numbers,      \
                                       name##_image_squares};

DEFINE_LOOPS(plain, )

#if defined(__x86_64__)
DEFINE_LOOPS(avx512, __attribute__((target("avx512f,avx512bw"))))
DEFINE_LOOPS(avx2, __attribute__((target("avx2,fma"))))

static const loops *widest_loops(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw"))
        return &avx512_loops;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &avx2_loops
                                                                           : &plain_loops;
}
#else
static const loops *widest_loops(void) {
    return &plain_loops;
}
#endif

float km_dot(const float *a, const float *b, size_t n) {
    return widest_loops()->dot(a, b, n);
}

void km_add_multiple(float *sum, float factor, const float *row, size_t n) {
    widest_loops()->add_multiple(sum, factor, row, n);
}

void km_round_numbers(const int32_t *numbers, size_t n, int32_t offset, float scale, uint8_t *bytes,
                      float *squares) {
    widest_loops()->round_numbers(numbers, n, offset, scale, bytes, squares);
}

void km_image_squares(const float *lower, size_t size, const int32_t *numbers,
                      const int32_t *offsets, size_t n, float *squares) {
    widest_loops()->image_squares(lower, size, numbers, offsets, n, squares);
}
