#include "kmeans/assign/sketch.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE = 1024, /* rows at most that the axes are found from */
    ROUNDS = 4,    /* of the iteration that finds them */
    SQUARINGS = 10,
    WIDEST = 200, /* what the sample's greatest number becomes: finer steps for a few cut off */
};

/* Below this share of the variance, sketches leave too many rows in question. */
static const double least_share = 0.4;

/* What the axes are found with: SAMPLE rows less their mean, and the axes as columns. */
typedef struct work {
    size_t rows, dim;
    float *centered; /* rows x dim */
    float *mean;
    float *axes;   /* dim x KM_SKETCH */
    float *images; /* rows x KM_SKETCH */
} work;

static void work_free(work *space) {
    free(space->centered);
    free(space->mean);
    free(space->axes);
    free(space->images);
}

static bool work_create(work *space, size_t rows, size_t dim) {
    *space = (work){.rows = rows, .dim = dim};
    space->centered = malloc(rows * dim * sizeof(float));
    space->mean = calloc(dim, sizeof(float));
    space->axes = malloc(dim * KM_SKETCH * sizeof(float));
    space->images = malloc(rows * KM_SKETCH * sizeof(float));
    return space->centered && space->mean && space->axes && space->images;
}

/* Takes rows evenly from the N, and their mean away from them. Returns their variance. */
static double center(work *space, const uint8_t *rows, size_t n) {
    double variance = 0;
    for (size_t i = 0; i < space->rows; i++) {
        const uint8_t *row = rows + i * (n / space->rows) * space->dim;
        for (size_t d = 0; d < space->dim; d++) {
            space->centered[i * space->dim + d] = row[d];
            space->mean[d] += (float)row[d] / (float)space->rows;
        }
    }
    for (size_t d = 0; d < space->dim; d++)
        space->mean[d] = rintf(space->mean[d]);
    for (size_t i = 0; i < space->rows * space->dim; i++) {
        space->centered[i] -= space->mean[i % space->dim];
        variance += space->centered[i] * space->centered[i];
    }
    return variance;
}

/* images = centered axes. Returns the sum of their squares. */
static double project(work *space) {
    double squares = 0;
    memset(space->images, 0, space->rows * KM_SKETCH * sizeof(float));
    for (size_t i = 0; i < space->rows; i++) {
        float *image = space->images + i * KM_SKETCH;
        for (size_t d = 0; d < space->dim; d++) {
            float x = space->centered[i * space->dim + d];
            const float *axis = space->axes + d * KM_SKETCH;
            for (size_t j = 0; j < KM_SKETCH; j++)
                image[j] += x * axis[j];
        }
        for (size_t j = 0; j < KM_SKETCH; j++)
            squares += image[j] * image[j];
    }
    return squares;
}

/* axes = centered^T images. */
static void project_back(work *space) {
    memset(space->axes, 0, space->dim * KM_SKETCH * sizeof(float));
    for (size_t i = 0; i < space->rows; i++) {
        const float *image = space->images + i * KM_SKETCH;
        for (size_t d = 0; d < space->dim; d++) {
            float x = space->centered[i * space->dim + d];
            float *axis = space->axes + d * KM_SKETCH;
            for (size_t j = 0; j < KM_SKETCH; j++)
                axis[j] += x * image[j];
        }
    }
}

static double product(const work *space, size_t a, size_t b) {
    double sum = 0;
    for (size_t d = 0; d < space->dim; d++)
        sum += (double)space->axes[d * KM_SKETCH + a] * space->axes[d * KM_SKETCH + b];
    return sum;
}

/* Makes the axes orthonormal, each by taking away what it has of those before it (Gram-Schmidt). */
static void orthonormalize(work *space) {
    for (size_t j = 0; j < KM_SKETCH; j++) {
        for (size_t before = 0; before < j; before++) {
            float part = (float)product(space, before, j);
            for (size_t d = 0; d < space->dim; d++)
                space->axes[d * KM_SKETCH + j] -= part * space->axes[d * KM_SKETCH + before];
        }
        double length = sqrt(product(space, j, j));
        float factor = length > 0 ? (float)(1 / length) : 0;
        for (size_t d = 0; d < space->dim; d++)
            space->axes[d * KM_SKETCH + j] *= factor;
    }
}

/* The principal axes, nearly, by orthogonal iteration. Returns the squares that they keep. */
static double find_axes(work *space) {
    uint64_t state = 1;
    for (size_t i = 0; i < space->dim * KM_SKETCH; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        space->axes[i] = (float)(state >> 40) - (float)(1 << 23);
    }
    orthonormalize(space);
    for (int round = 0; round < ROUNDS; round++) {
        project(space);
        project_back(space);
        orthonormalize(space);
    }
    return project(space);
}

/* Mixes the axes by a Hadamard matrix, which is orthogonal: then all keep much alike. */
static void mix(work *space) {
    for (size_t d = 0; d < space->dim; d++) {
        float *axis = space->axes + d * KM_SKETCH;
        for (size_t half = 1; half < KM_SKETCH; half *= 2)
            for (size_t j = 0; j < KM_SKETCH; j++)
                if (!(j & half)) {
                    float a = axis[j], b = axis[j + half];
                    axis[j] = a + b;
                    axis[j + half] = a - b;
                }
    }
}

/* A, as bytes, and A mean. */
static void round_axes(const work *space, km_sketch *sketch) {
    float largest = 0;
    for (size_t i = 0; i < space->dim * KM_SKETCH; i++)
        largest = fmaxf(largest, fabsf(space->axes[i]));
    float factor = largest > 0 ? 127 / largest : 0;
    for (size_t j = 0; j < KM_SKETCH; j++) {
        sketch->offsets[j] = 0;
        for (size_t d = 0; d < space->dim; d++) {
            int32_t rounded = (int32_t)rintf(space->axes[d * KM_SKETCH + j] * factor);
            sketch->axes[j * space->dim + d] = (uint8_t)(rounded + 128);
            sketch->offsets[j] += rounded * (int32_t)space->mean[d];
        }
    }
}

static int32_t axis_product(const km_sketch *sketch, size_t j, const uint8_t *row, int32_t center) {
    int32_t sum = 0;
    for (size_t d = 0; d < sketch->dim; d++)
        sum += (row[d] - center) * (sketch->axes[j * sketch->dim + d] - 128);
    return sum;
}

typedef double square_matrix[KM_SKETCH][KM_SKETCH];

static double trace(square_matrix m) {
    double sum = 0;
    for (size_t j = 0; j < KM_SKETCH; j++)
        sum += m[j][j];
    return sum;
}

/* m = m m / trace(m)^2 */
static void square(square_matrix m) {
    square_matrix result = {{0}};
    double factor = 1 / trace(m) / trace(m);
    for (size_t i = 0; i < KM_SKETCH; i++)
        for (size_t l = 0; l < KM_SKETCH; l++)
            for (size_t j = 0; j < KM_SKETCH; j++)
                result[i][j] += factor * m[i][l] * m[l][j];
    memcpy(m, result, sizeof result);
}

/*
 * A's largest singular value, no smaller than it and hardly larger: for G = A A^T and n = 2^k, the
 * largest eigenvalue of G is at most trace(G^n)^(1/n), as that is the sum of the eigenvalues'
 * powers. square() divides by the trace, whose logarithm comes in again here.
 */
static double largest_singular_value(const km_sketch *sketch) {
    square_matrix power;
    double logarithm = 0, share = 1;
    for (size_t i = 0; i < KM_SKETCH; i++)
        for (size_t j = 0; j < KM_SKETCH; j++)
            power[i][j] = axis_product(sketch, i, sketch->axes + j * sketch->dim, 128);
    if (!(trace(power) > 0))
        return 0;
    for (int squaring = 0; squaring < SQUARINGS; squaring++, share /= 2) {
        logarithm += share * log(trace(power));
        square(power);
    }
    logarithm += share * log(trace(power));
    return sqrt(exp(logarithm)) * (1 + 1e-6);
}

/* The scale, by the widest sketch of the sample. */
static float fit_scale(const km_sketch *sketch, const uint8_t *rows, size_t n, size_t sample) {
    int32_t largest = 1;
    for (size_t i = 0; i < sample; i++)
        for (size_t j = 0; j < KM_SKETCH; j++) {
            const uint8_t *row = rows + i * (n / sample) * sketch->dim;
            int32_t number = abs(axis_product(sketch, j, row, 0) - sketch->offsets[j]);
            largest = number > largest ? number : largest;
        }
    return WIDEST / (float)largest;
}

static void make(km_sketch *made, const uint8_t *rows, size_t n, work *space) {
    double variance = center(space, rows, n);
    made->share = variance > 0 ? find_axes(space) / variance : 0;
    mix(space);
    round_axes(space, made);
    made->scale = fit_scale(made, rows, n, space->rows);
    made->stretch = (float)(largest_singular_value(made) * made->scale * (1 + 1e-6));
}

int km_sketch_create(const uint8_t *rows, size_t n, size_t dim, km_sketch **sketch) {
    *sketch = NULL;
    if (dim < 2 * KM_SKETCH || n < SAMPLE)
        return 0;
    km_sketch *made = calloc(1, sizeof *made);
    work space = {0};
    if (made)
        made->axes = malloc(KM_SKETCH * dim);
    int error = made && made->axes && work_create(&space, SAMPLE, dim) ? 0 : ENOMEM;
    if (!error) {
        made->dim = dim;
        make(made, rows, n, &space);
    }
    work_free(&space);
    if (!error && made->share >= least_share && made->stretch > 0)
        *sketch = made;
    else
        km_sketch_free(made);
    return error;
}

void km_sketch_free(km_sketch *sketch) {
    if (!sketch)
        return;
    free(sketch->axes);
    free(sketch);
}

/* Number J of the sketches of N rows, and what rounding it adds to their squared errors. */
static void round_number(const km_sketch *sketch, size_t j, const int32_t *sums, size_t n,
                         uint8_t *bytes, float *squares) {
    int32_t offset = sketch->offsets[j];
    float scale = sketch->scale;
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        float number = (float)(sums[i] - offset) * scale + 128;
        float clamped = number < 0 ? 0 : number > 255 ? 255 : number;
        int rounded = (int)(clamped + 0.5F);
        float error = clamped - (float)rounded;
        squares[i] += error * error;
        bytes[i] = (uint8_t)rounded;
    }
}

void km_sketch_round(const km_sketch *sketch, const int32_t *sums, size_t n, uint8_t *bytes,
                     float *errors) {
    uint8_t numbers[KM_SKETCH_ROWS];
    memset(errors, 0, n * sizeof *errors);
    for (size_t j = 0; j < KM_SKETCH; j++) {
        round_number(sketch, j, sums + j * n, n, numbers, errors);
        for (size_t i = 0; i < n; i++)
            bytes[i * KM_SKETCH + j] = numbers[i];
    }
    /* More than the arithmetic is off by. */
    for (size_t i = 0; i < n; i++)
        errors[i] = sqrtf(errors[i]) * 1.0001F + 0.01F;
}
