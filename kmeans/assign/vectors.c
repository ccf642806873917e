/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/vectors.h"

#include <math.h>
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

LOOP float largest_deviation(const float *row, const float *mean, size_t n) {
    float largest = 0;
#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < n; i++) {
        float deviation = fabsf(row[i] - mean[i]);
        largest = deviation > largest ? deviation : largest;
    }
    return largest;
}

LOOP void quantise(const float *row, const float *mean, size_t n, float scale, int offset,
                   uint8_t *bytes, km_quantum *sums) {
    const float factor = 1 / scale, middle = (float)offset + 0.5F;
    float deviations2 = 0, codes2 = 0, rests2 = 0;
    int32_t codes = 0;
#pragma omp simd reduction(+ : deviations2, codes2, rests2, codes)
    for (size_t i = 0; i < n; i++) {
        float deviation = row[i] - mean[i];
        int byte = (int)(deviation * factor + middle), code = byte - offset;
        float number = (float)code, rest = deviation - number * scale;
        bytes[i] = (uint8_t)byte;
        deviations2 += deviation * deviation;
        codes2 += number * number;
        rests2 += rest * rest;
        codes += code;
    }
    *sums = (km_quantum){deviations2, codes2, rests2, codes};
}

LOOP float near_distance2(const float *a, const float *b, size_t n) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/*
 * Returns a lower bound of the square root, below the root by at least 2^-16 of the root. Uses
 * Newton's method, which compilers can vectorise.
 */
LOOP float low_root(float square) {
    uint32_t bits;
    float inverse;
    memcpy(&bits, &square, sizeof bits);
    bits = 0x5f3759df - (bits >> 1);
    memcpy(&inverse, &bits, sizeof inverse);
    for (int step = 0; step < 2; step++)
        inverse *= 1.5F - 0.5F * square * inverse * inverse;
    return square * inverse * (1 - 0x1p-15F);
}

LOOP void distance_bounds(const float *lows, const float *squares, const float *halves, size_t n,
                          float error, float drift, uint16_t *bounds) {
    const float most = 0x1p120F;
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        float score = lows[i] / halves[i];
        float square = squares[i] + score - 2 * error * (squares[i] + fabsf(score));
        square = square > 0x1p-100F ? square : 0; /* also if it is not a number */
        square = square < most ? square : most;
        float bound = (low_root(square) + drift) * (1 - 0x1p-20F);
        uint32_t bits;
        memcpy(&bits, &bound, sizeof bits);
        bounds[i] = (uint16_t)(bits >> 16);
    }
}

/*
 * Vectors of LANES numbers, as compilers provide them for any processor; they are only used in
 * registers here. A comparison of two vectors sets all bits of a lane if it is true there, and else
 * clears them.
 */
#if defined(__x86_64__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t ints __attribute__((vector_size(LANES * sizeof(int32_t))));

#define LOAD(vector, memory) memcpy(&(vector), memory, sizeof(vector))
#define STORE(memory, vector) memcpy(memory, &(vector), sizeof(vector))
#define LESSER(a, b) ((floats)((((a) < (b)) & (ints)(a)) | (~((a) < (b)) & (ints)(b))))

LOOP bool is_any(ints lanes) {
    uint64_t words[sizeof lanes / sizeof(uint64_t)], all = 0;
    memcpy(words, &lanes, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        all |= words[i];
    return all;
}

/*
 * Lowers the bounds, and the lows if there are some, of LANES points from number FIRST on, using
 * the scores of the centroids START to END - 1, which are one segment. Returns whether one of these
 * centroids may be nearest to one of the points.
 */
LOOP bool lower_bounds(const km_screen *screen, size_t first, size_t start, size_t end,
                       const int32_t *products) {
    const float norm = screen->panel_norms[start / screen->step],
                rest = screen->panel_rests[start / screen->step];
    floats halves, code_norms, code_rests, slacks, bounds, least;
    LOAD(halves, screen->halves + first);
    LOAD(code_norms, screen->code_norms + first);
    LOAD(code_rests, screen->code_rests + first);
    LOAD(slacks, screen->slacks + first);
    LOAD(bounds, screen->bounds + first);
    least = (floats){0} + INFINITY;
    for (size_t j = start; j < end; j++) {
        ints product;
        LOAD(product, products + j * screen->points + first);
        floats score =
            screen->squares[j] * halves -
            screen->scales[j] * __builtin_convertvector(product - screen->bases[j], floats);
        least = LESSER(score, least);
    }
    floats error = rest * code_norms + norm * code_rests, most = least + error + slacks;
    if (screen->lows) {
        float *to = screen->lows + screen->groups[start] * screen->points + first;
        floats low;
        LOAD(low, to);
        low = LESSER(least - error, low);
        STORE(to, low);
    }
    ints any = least - error <= bounds;
    bounds = LESSER(most, bounds);
    STORE(screen->bounds + first, bounds);
    return is_any(any);
}

/* Lists the points, among LANES points from number FIRST on, to which centroid J may be nearest. */
LOOP size_t list_points(const km_screen *screen, size_t first, size_t j, const int32_t *products,
                        km_estimate *pairs) {
    floats halves, code_norms, code_rests, bounds;
    ints product;
    LOAD(halves, screen->halves + first);
    LOAD(code_norms, screen->code_norms + first);
    LOAD(code_rests, screen->code_rests + first);
    LOAD(bounds, screen->bounds + first);
    LOAD(product, products + j * screen->points + first);
    floats score = screen->squares[j] * halves -
                   screen->scales[j] * __builtin_convertvector(product - screen->bases[j], floats);
    floats low = score - (screen->rests[j] * code_norms + screen->norms[j] * code_rests);
    ints hits = low <= bounds;
    size_t n = 0;
    if (!is_any(hits))
        return 0;
    for (size_t i = 0; i < LANES; i++)
        if (hits[i])
            pairs[n++] = (km_estimate){(uint32_t)(first + i), (uint32_t)j, score[i], low[i]};
    return n;
}

LOOP size_t screen_panels(const km_screen *screen, const int32_t *products, km_estimate *pairs) {
    size_t n = 0;
    for (size_t start = 0, end; start < screen->count; start = end) {
        end = screen->ends[start] - screen->first;
        for (size_t first = 0; first < screen->points; first += LANES)
            if (lower_bounds(screen, first, start, end, products))
                for (size_t j = start; j < end; j++)
                    n += list_points(screen, first, j, products, pairs + n);
    }
    return n;
}

typedef struct loops {
    float (*dot)(const float *a, const float *b, size_t n);
    void (*add_multiple)(float *sum, float factor, const float *row, size_t n);
    void (*round_numbers)(const int32_t *numbers, size_t n, int32_t offset, float scale,
                          uint8_t *bytes, float *squares);
    void (*image_squares)(const float *lower, size_t size, const int32_t *numbers,
                          const int32_t *offsets, size_t n, float *squares);
    float (*largest_deviation)(const float *row, const float *mean, size_t n);
    void (*quantise)(const float *row, const float *mean, size_t n, float scale, int offset,
                     uint8_t *bytes, km_quantum *sums);
    float (*near_distance2)(const float *a, const float *b, size_t n);
    void (*distance_bounds)(const float *lows, const float *squares, const float *halves, size_t n,
                            float error, float drift, uint16_t *bounds);
    size_t (*screen_panels)(const km_screen *screen, const int32_t *products, km_estimate *pairs);
} loops;

/* Defines the loops for TARGET; their names begin with NAME. */
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
    target static float name##_largest_deviation(const float *row, const float *mean, size_t n) {  \
        return largest_deviation(row, mean, n);                                                    \
    }                                                                                              \
    target static void name##_quantise(const float *row, const float *mean, size_t n, float scale, \
                                       int offset, uint8_t *bytes, km_quantum *sums) {             \
        quantise(row, mean, n, scale, offset, bytes, sums);                                        \
    }                                                                                              \
    target static float name##_near_distance2(const float *a, const float *b, size_t n) {          \
        return near_distance2(a, b, n);                                                            \
    }                                                                                              \
    target static void name##_distance_bounds(const float *lows, const float *squares,             \
                                              const float *halves, size_t n, float error,          \
                                              float drift, uint16_t *bounds) {                     \
        distance_bounds(lows, squares, halves, n, error, drift, bounds);                           \
    }                                                                                              \
    target static size_t name##_screen_panels(const km_screen *screen, const int32_t *products,    \
                                              km_estimate *pairs) {                                \
        return screen_panels(screen, products, pairs);                                             \
    }                                                                                              \
    static const loops name##_loops = {name##_dot,                                                 \
                                       name##_add_multiple,                                        \
                                       name##_round_numbers,                                       \
                                       name##_image_squares,                                       \
                                       name##_largest_deviation,                                   \
                                       name##_quantise,                                            \
                                       name##_near_distance2,                                      \
                                       name##_distance_bounds,                                     \
                                       name##_screen_panels};

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

float km_largest_deviation(const float *row, const float *mean, size_t n) {
    return widest_loops()->largest_deviation(row, mean, n);
}

km_quantum km_quantise(const float *row, const float *mean, size_t n, float scale, int offset,
                       uint8_t *bytes) {
    km_quantum sums;
    widest_loops()->quantise(row, mean, n, scale, offset, bytes, &sums);
    return sums;
}

float km_near_distance2(const float *a, const float *b, size_t n) {
    return widest_loops()->near_distance2(a, b, n);
}

void km_distance_bounds(const float *lows, const float *squares, const float *halves, size_t n,
                        float error, float drift, uint16_t *bounds) {
    widest_loops()->distance_bounds(lows, squares, halves, n, error, drift, bounds);
}

size_t km_screen_panels(const km_screen *screen, const int32_t *products, km_estimate *pairs) {
    return widest_loops()->screen_panels(screen, products, pairs);
}
