#include "kmeans/assign/sketch.h"

#include "kmeans/assign/vectors.h"
#include "kmeans/points/memory.h"

#include <errno.h>
#include <math.h>
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

/* What the axes are found with: SAMPLE rows less their mean, and the axes. */
typedef struct work {
    size_t rows, dim;
    float *centered; /* rows x dim */
    float *mean;
    float *axes;   /* KM_AXES x dim */
    float *images; /* rows x KM_AXES */
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
    space->axes = malloc(dim * KM_AXES * sizeof(float));
    space->images = malloc(rows * KM_AXES * sizeof(float));
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

static float *axis_of(const work *space, size_t j) {
    return space->axes + j * space->dim;
}

/* images = centered axes^T. Returns the sum of their squares. */
static double project(work *space) {
    double squares = 0;
    for (size_t i = 0; i < space->rows; i++)
        for (size_t j = 0; j < KM_AXES; j++) {
            float image = km_dot(space->centered + i * space->dim, axis_of(space, j), space->dim);
            space->images[i * KM_AXES + j] = image;
            squares += (double)image * (double)image;
        }
    return squares;
}

/* axes = images^T centered. */
static void project_back(work *space) {
    memset(space->axes, 0, space->dim * KM_AXES * sizeof(float));
    for (size_t i = 0; i < space->rows; i++)
        for (size_t j = 0; j < KM_AXES; j++)
            km_add_multiple(axis_of(space, j), space->images[i * KM_AXES + j],
                            space->centered + i * space->dim, space->dim);
}

/* Makes the axes orthonormal, each by taking away what it has of those before it (Gram-Schmidt). */
static void orthonormalize(work *space) {
    for (size_t j = 0; j < KM_AXES; j++) {
        float *axis = axis_of(space, j);
        for (size_t before = 0; before < j; before++) {
            const float *other = axis_of(space, before);
            km_add_multiple(axis, -km_dot(other, axis, space->dim), other, space->dim);
        }
        float length = sqrtf(km_dot(axis, axis, space->dim));
        float factor = length > 0 ? 1 / length : 0;
        for (size_t d = 0; d < space->dim; d++)
            axis[d] *= factor;
    }
}

/* The principal axes, nearly, by orthogonal iteration. Returns the squares that they keep. */
static double find_axes(work *space) {
    uint64_t state = 1;
    for (size_t i = 0; i < space->dim * KM_AXES; i++) {
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
    for (size_t half = 1; half < KM_AXES; half *= 2)
        for (size_t j = 0; j < KM_AXES; j++) {
            if (j & half)
                continue;
            float *first = axis_of(space, j), *second = axis_of(space, j + half);
            for (size_t d = 0; d < space->dim; d++) {
                float a = first[d], b = second[d];
                first[d] = a + b;
                second[d] = a - b;
            }
        }
}

/* A, as bytes, and A mean. Returns how much longer A's rows are than the axes. */
static float round_axes(const work *space, km_sketch *sketch) {
    float largest = 0;
    for (size_t i = 0; i < space->dim * KM_AXES; i++)
        largest = fmaxf(largest, fabsf(space->axes[i]));
    float factor = largest > 0 ? 127 / largest : 0;
    sketch->mean2 = 0;
    for (size_t d = 0; d < space->dim; d++) {
        sketch->axes[KM_AXES * space->dim + d] = (uint8_t)space->mean[d];
        sketch->mean2 += (uint32_t)(space->mean[d] * space->mean[d]);
    }
    for (size_t j = 0; j < KM_AXES; j++) {
        sketch->offsets[j] = 0;
        for (size_t d = 0; d < space->dim; d++) {
            int32_t rounded = (int32_t)rintf(axis_of(space, j)[d] * factor);
            sketch->axes[j * space->dim + d] = (uint8_t)(rounded + 128);
            sketch->offsets[j] += rounded * (int32_t)space->mean[d];
        }
    }
    return factor;
}

/* The product of two rows of A. */
static int32_t axes_product(const km_sketch *sketch, size_t i, size_t j) {
    const uint8_t *a = sketch->axes + i * sketch->dim, *b = sketch->axes + j * sketch->dim;
    int32_t sum = 0;
    for (size_t d = 0; d < sketch->dim; d++)
        sum += (a[d] - 128) * (b[d] - 128);
    return sum;
}

typedef double square_matrix[KM_AXES][KM_AXES];

static double trace(square_matrix m) {
    double sum = 0;
    for (size_t j = 0; j < KM_AXES; j++)
        sum += m[j][j];
    return sum;
}

/* m = m m / trace(m)^2 */
static void square(square_matrix m) {
    square_matrix result = {{0}};
    double factor = 1 / trace(m) / trace(m);
    for (size_t i = 0; i < KM_AXES; i++)
        for (size_t l = 0; l < KM_AXES; l++)
            for (size_t j = 0; j < KM_AXES; j++)
                result[i][j] += factor * m[i][l] * m[l][j];
    memcpy(m, result, sizeof result);
}

/* G, in doubles, which hold it exactly. */
static void make_gram(const km_sketch *sketch, square_matrix gram) {
    for (size_t i = 0; i < KM_AXES; i++)
        for (size_t j = 0; j < KM_AXES; j++)
            gram[i][j] = axes_product(sketch, i, j);
}

/*
 * A's largest singular value, no smaller than it and hardly larger: for n = 2^k, the largest
 * eigenvalue of G is at most trace(G^n)^(1/n), as that is the sum of the eigenvalues' powers.
 * square() divides by the trace, whose logarithm comes in again here.
 */
static double largest_singular_value(square_matrix gram) {
    square_matrix power;
    double logarithm = 0, share = 1;
    memcpy(power, gram, sizeof power);
    if (!(trace(power) > 0))
        return 0;
    for (int squaring = 0; squaring < SQUARINGS; squaring++, share /= 2) {
        logarithm += share * log(trace(power));
        square(power);
    }
    logarithm += share * log(trace(power));
    return sqrt(exp(logarithm)) * (1 + 1e-6);
}

/* Turns G into its Cholesky factor; false where rows of A are not well apart. */
static bool factorize(square_matrix g) {
    for (size_t j = 0; j < KM_AXES; j++) {
        double own = g[j][j], rest = own;
        for (size_t l = 0; l < j; l++)
            rest -= g[j][l] * g[j][l];
        if (!(rest > own / 2))
            return false;
        g[j][j] = sqrt(rest);
        for (size_t i = j + 1; i < KM_AXES; i++) {
            for (size_t l = 0; l < j; l++)
                g[i][j] -= g[i][l] * g[j][l];
            g[i][j] /= g[j][j];
        }
    }
    return true;
}

/* The inverse of a lower triangle, to SKETCH. Returns the root of its squares' sum. */
static double invert(square_matrix lower, km_sketch *sketch) {
    square_matrix inverse = {{0}};
    double squares = 0;
    for (size_t j = 0; j < KM_AXES; j++)
        for (size_t i = j; i < KM_AXES; i++) {
            double sum = i == j;
            for (size_t l = j; l < i; l++)
                sum -= lower[i][l] * inverse[l][j];
            inverse[i][j] = sum / lower[i][i];
            sketch->inverse[i * KM_AXES + j] = (float)inverse[i][j];
            squares += inverse[i][j] * inverse[i][j];
        }
    return sqrt(squares);
}

/*
 * What the length of the rest is found with. With W, the inverse, y^T G^-1 y = |W y|^2. Float
 * arithmetic makes each component of W y, of at most KM_AXES products, off by (KM_AXES + 4) u times
 * the sum of their absolute values, and all of it by that times |W|_F |y|, |y| <= sigma |x - mean|;
 * 2^-17 is more than what sums of squares add; products that are off by 1/2 make it off by |W|_F
 * sqrt(KM_AXES) / 2.
 */
static void prepare_rest(km_sketch *sketch, const work *space, square_matrix gram, double sigma) {
    double norm = invert(gram, sketch), sum = 0;
    double off = (KM_AXES + 4) * ldexp(1, -24) * norm * sigma;
    sketch->rest_error = (float)(2 * off + off * off + ldexp(1, -17));
    sketch->rest_slack = (float)(2.1 * norm * sqrt(KM_AXES) / 2);
    for (size_t i = 0; i < space->rows; i++) {
        const float *row = space->centered + i * space->dim, *image = space->images + i * KM_AXES;
        float rest = km_dot(row, row, space->dim) - km_dot(image, image, KM_AXES) / KM_AXES;
        sum += (double)sqrtf(fmaxf(rest, 0));
    }
    sketch->middle_rest = (float)sum / (float)space->rows * sketch->stretch;
}

/* The scale, by the widest sketch of the sample, whose axes A's rows are FACTOR times. */
static float fit_scale(work *space, float factor) {
    float largest = 1;
    project(space);
    for (size_t i = 0; i < space->rows * KM_AXES; i++)
        largest = fmaxf(largest, fabsf(space->images[i]) * factor);
    return WIDEST / largest;
}

static void make(km_sketch *made, const uint8_t *rows, size_t n, work *space) {
    double variance = center(space, rows, n);
    made->share = variance > 0 ? find_axes(space) / variance : 0;
    mix(space);
    float factor = round_axes(space, made);
    square_matrix gram;
    make_gram(made, gram);
    double sigma = largest_singular_value(gram);
    made->scale = fit_scale(space, factor);
    made->stretch = (float)(sigma * (double)made->scale * (1 + 1e-6));
    if (!factorize(gram))
        made->stretch = 0; /* of no use */
    else
        prepare_rest(made, space, gram, sigma);
}

int km_sketch_create(const uint8_t *rows, size_t n, size_t dim, km_sketch **sketch) {
    *sketch = NULL;
    if (dim < KM_SKETCH_LEAST_DIM || n < SAMPLE)
        return 0;
    km_sketch *made = calloc(1, sizeof *made);
    work space = {0};
    if (made)
        made->axes = malloc((KM_AXES + 1) * dim);
    if (made)
        made->inverse = calloc(KM_AXES * KM_AXES, sizeof *made->inverse);
    int error =
        made && made->axes && made->inverse && work_create(&space, SAMPLE, dim) ? 0 : ENOMEM;
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
    free(sketch->inverse);
    free(sketch);
}

bool km_sketches_create(size_t n, km_sketches *sketches) {
    *sketches = (km_sketches){.bytes = km_allocate(n, KM_SKETCH),
                              .errors = km_allocate(n, sizeof *sketches->errors),
                              .corrections = km_allocate(n, sizeof *sketches->corrections)};
    if (!sketches->bytes || !sketches->errors || !sketches->corrections) {
        km_sketches_free(sketches);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        sketches->errors[i] = -1;
    return true;
}

void km_sketches_free(km_sketches *sketches) {
    free(sketches->bytes);
    free(sketches->errors);
    free(sketches->corrections);
    *sketches = (km_sketches){.bytes = NULL};
}

km_sketches km_sketches_from(const km_sketches *sketches, size_t first) {
    return (km_sketches){sketches->bytes + first * KM_SKETCH, sketches->errors + first,
                         sketches->corrections + first};
}

float km_sketch_way2(const km_sketch *sketch, uint32_t correction, int32_t sum) {
    return (float)(correction + sketch->mean2 - 2 * (uint32_t)sum);
}

/* The number, cut off and rounded, that stands for the rest of a row KM_REST times. */
static uint8_t round_rest(const km_sketch *sketch, float way2, float seen2, float *error) {
    const float cut = sqrtf(KM_REST);
    float off2 = sketch->rest_error * way2 +
                 sketch->rest_slack * (sqrtf(way2) * 1.0001F + sketch->rest_slack);
    float rest = sqrtf(fmaxf(way2 - seen2, 0));
    float off = fminf(sqrtf(off2), off2 / fmaxf(rest, 1e-6F)) * 1.001F;
    float number = (rest * sketch->stretch - sketch->middle_rest) / cut + 128;
    float clamped = fmaxf(0, fminf(number, 255)), rounded = floorf(clamped + 0.5F);
    *error =
        sqrtf(*error + KM_REST * (clamped - rounded) * (clamped - rounded)) + off * sketch->stretch;
    return (uint8_t)fminf(rounded, 255);
}

void km_sketch_round(const km_sketch *sketch, const int32_t *sums, const float *ways2, size_t n,
                     uint8_t *bytes, float *errors) {
    uint8_t numbers[KM_SKETCH_ROWS];
    float seen2[KM_SKETCH_ROWS];
    memset(errors, 0, n * sizeof *errors);
    for (size_t j = 0; j < KM_AXES; j++) {
        km_round_numbers(sums + j * n, n, sketch->offsets[j], sketch->scale, numbers, errors);
        for (size_t i = 0; i < n; i++)
            bytes[i * KM_SKETCH + j] = numbers[i];
    }
    km_image_squares(sketch->inverse, KM_AXES, sums, sketch->offsets, n, seen2);
    for (size_t i = 0; i < n; i++) {
        uint8_t rest = round_rest(sketch, ways2[i], seen2[i], &errors[i]);
        memset(bytes + i * KM_SKETCH + KM_AXES, rest, KM_REST);
        errors[i] = errors[i] * 1.0001F + 0.01F; /* more than the arithmetic is off by */
    }
}
