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
    size_t rows, dim, count; /* of axes */
    float *centered;         /* rows x dim */
    float *mean;
    float *found;  /* KM_AXES x dim: the principal axes, the widest first */
    float *axes;   /* count x dim: those that are taken, mixed */
    float *images; /* rows x count */
} work;

static void work_free(work *space) {
    free(space->centered);
    free(space->mean);
    free(space->found);
    free(space->axes);
    free(space->images);
}

static bool work_create(work *space, size_t rows, size_t dim) {
    *space = (work){.rows = rows, .dim = dim, .count = KM_AXES};
    space->centered = malloc(rows * dim * sizeof(float));
    space->mean = calloc(dim, sizeof(float));
    space->found = malloc(dim * KM_AXES * sizeof(float));
    space->axes = malloc(dim * KM_AXES * sizeof(float));
    space->images = malloc(rows * KM_AXES * sizeof(float));
    return space->centered && space->mean && space->found && space->axes && space->images;
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
        for (size_t j = 0; j < space->count; j++) {
            float image = km_dot(space->centered + i * space->dim, axis_of(space, j), space->dim);
            space->images[i * space->count + j] = image;
            squares += (double)image * (double)image;
        }
    return squares;
}

/* axes = images^T centered. */
static void project_back(work *space) {
    memset(space->axes, 0, space->dim * space->count * sizeof(float));
    for (size_t i = 0; i < space->rows; i++)
        for (size_t j = 0; j < space->count; j++)
            km_add_multiple(axis_of(space, j), space->images[i * space->count + j],
                            space->centered + i * space->dim, space->dim);
}

/* Makes the axes orthonormal, each by taking away what it has of those before it (Gram-Schmidt). */
static void orthonormalize(work *space) {
    for (size_t j = 0; j < space->count; j++) {
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

/* The principal axes, nearly, by orthogonal iteration. */
static void find_axes(work *space) {
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
    memcpy(space->found, space->axes, space->dim * KM_AXES * sizeof(float));
}

/* Mixes the axes by a Hadamard matrix, which is orthogonal: then all keep much alike. */
static void mix(work *space) {
    for (size_t half = 1; half < space->count; half *= 2)
        for (size_t j = 0; j < space->count; j++) {
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
    for (size_t i = 0; i < space->dim * space->count; i++)
        largest = fmaxf(largest, fabsf(space->axes[i]));
    float factor = largest > 0 ? 127 / largest : 0;
    sketch->mean2 = 0;
    for (size_t d = 0; d < space->dim; d++) {
        sketch->axes[space->count * space->dim + d] = (uint8_t)space->mean[d];
        sketch->mean2 += (uint32_t)(space->mean[d] * space->mean[d]);
    }
    for (size_t j = 0; j < space->count; j++) {
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

/* Of which COUNT rows and columns are used. */
typedef double square_matrix[KM_AXES][KM_AXES];

static double trace(square_matrix m, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++)
        sum += m[j][j];
    return sum;
}

/* m = m m / trace(m)^2 */
static void square(square_matrix m, size_t count) {
    square_matrix result = {{0}};
    double factor = 1 / trace(m, count) / trace(m, count);
    for (size_t i = 0; i < count; i++)
        for (size_t l = 0; l < count; l++)
            for (size_t j = 0; j < count; j++)
                result[i][j] += factor * m[i][l] * m[l][j];
    memcpy(m, result, sizeof result);
}

/* G, in doubles, which hold it exactly. */
static void make_gram(const km_sketch *sketch, square_matrix gram) {
    for (size_t i = 0; i < sketch->count; i++)
        for (size_t j = 0; j < sketch->count; j++)
            gram[i][j] = axes_product(sketch, i, j);
}

/*
 * A's largest singular value, no smaller than it and hardly larger: for n = 2^k, the largest
 * eigenvalue of G is at most trace(G^n)^(1/n), as that is the sum of the eigenvalues' powers.
 * square() divides by the trace, whose logarithm comes in again here.
 */
static double largest_singular_value(square_matrix gram, size_t count) {
    square_matrix power;
    double logarithm = 0, share = 1;
    memcpy(power, gram, sizeof power);
    if (!(trace(power, count) > 0))
        return 0;
    for (int squaring = 0; squaring < SQUARINGS; squaring++, share /= 2) {
        logarithm += share * log(trace(power, count));
        square(power, count);
    }
    logarithm += share * log(trace(power, count));
    return sqrt(exp(logarithm)) * (1 + 1e-6);
}

/* Turns G into its Cholesky factor; false where rows of A are not well apart. */
static bool factorize(square_matrix g, size_t count) {
    for (size_t j = 0; j < count; j++) {
        double own = g[j][j], rest = own;
        for (size_t l = 0; l < j; l++)
            rest -= g[j][l] * g[j][l];
        if (!(rest > own / 2))
            return false;
        g[j][j] = sqrt(rest);
        for (size_t i = j + 1; i < count; i++) {
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
    for (size_t j = 0; j < sketch->count; j++)
        for (size_t i = j; i < sketch->count; i++) {
            double sum = i == j;
            for (size_t l = j; l < i; l++)
                sum -= lower[i][l] * inverse[l][j];
            inverse[i][j] = sum / lower[i][i];
            sketch->inverse[i * sketch->count + j] = (float)inverse[i][j];
            squares += inverse[i][j] * inverse[i][j];
        }
    return sqrt(squares);
}

/*
 * What the length of the rest is found with. With W, the inverse, y^T G^-1 y = |W y|^2. Float
 * arithmetic makes each component of W y, of at most n products, n axes, off by (n + 4) u times the
 * sum of their absolute values, and all of it by that times |W|_F |y|, |y| <= sigma |x - mean|;
 * 2^-17 is more than what sums of squares add; products that are off by 1/2 make it off by |W|_F
 * sqrt(n) / 2.
 */
static void prepare_rest(km_sketch *sketch, const work *space, square_matrix gram, double sigma) {
    double norm = invert(gram, sketch), sum = 0, count = (double)sketch->count;
    double off = (count + 4) * ldexp(1, -24) * norm * sigma;
    sketch->rest_error = (float)(2 * off + off * off + ldexp(1, -17));
    sketch->rest_slack = (float)(2.1 * norm * sqrt(count) / 2);
    for (size_t i = 0; i < space->rows; i++) {
        const float *row = space->centered + i * space->dim,
                    *image = space->images + i * space->count;
        float rest =
            km_dot(row, row, space->dim) - km_dot(image, image, space->count) / (float)space->count;
        sum += (double)sqrtf(fmaxf(rest, 0));
    }
    sketch->middle_rest = (float)sum / (float)space->rows * sketch->stretch;
}

/* The scale, by the widest sketch of the sample, whose axes A's rows are FACTOR times. */
static float fit_scale(work *space, float factor) {
    float largest = 1;
    project(space);
    for (size_t i = 0; i < space->rows * space->count; i++)
        largest = fmaxf(largest, fabsf(space->images[i]) * factor);
    return WIDEST / largest;
}

/* All of SKETCH but its coarse one, of so many of the axes that were found. */
static void make(km_sketch *made, work *space, double variance) {
    space->count = made->count;
    memcpy(space->axes, space->found, made->count * made->dim * sizeof(float));
    made->share = variance > 0 ? project(space) / variance : 0;
    mix(space);
    float factor = round_axes(space, made);
    square_matrix gram;
    make_gram(made, gram);
    double sigma = largest_singular_value(gram, made->count);
    made->scale = fit_scale(space, factor);
    made->stretch = (float)(sigma * (double)made->scale * (1 + 1e-6));
    if (!factorize(gram, made->count))
        made->stretch = 0; /* of no use */
    else
        prepare_rest(made, space, gram, sigma);
}

static km_sketch *allocate(size_t count, size_t dim) {
    km_sketch *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = (km_sketch){.dim = dim,
                        .count = count,
                        .numbers = count + KM_REST,
                        .axes = malloc((count + 1) * dim),
                        .inverse = calloc(count * count, sizeof *made->inverse)};
    if (made->axes && made->inverse)
        return made;
    km_sketch_free(made);
    return NULL;
}

static bool is_useful(const km_sketch *sketch) {
    return sketch->share >= least_share && sketch->stretch > 0;
}

int km_sketch_create(const uint8_t *rows, size_t n, size_t dim, km_sketch **sketch) {
    *sketch = NULL;
    if (dim < KM_SKETCH_LEAST_DIM || n < SAMPLE)
        return 0;
    work space = {0};
    km_sketch *close = allocate(KM_AXES, dim), *coarse = allocate(KM_COARSE_AXES, dim);
    int error = close && coarse && work_create(&space, SAMPLE, dim) ? 0 : ENOMEM;
    if (!error) {
        double variance = center(&space, rows, n);
        find_axes(&space);
        make(coarse, &space, variance);
        make(close, &space, variance);
    }
    work_free(&space);
    if (!error && is_useful(close)) {
        *sketch = close;
        if (is_useful(coarse))
            close->coarse = coarse;
        else
            km_sketch_free(coarse);
        return 0;
    }
    km_sketch_free(coarse);
    km_sketch_free(close);
    return error;
}

void km_sketch_free(km_sketch *sketch) {
    if (!sketch)
        return;
    km_sketch_free(sketch->coarse);
    free(sketch->axes);
    free(sketch->inverse);
    free(sketch);
}

size_t km_sketch_levels(const km_sketch *sketch, const km_sketch *levels[KM_LEVELS]) {
    size_t count = 0;
    if (sketch->coarse)
        levels[count++] = sketch->coarse;
    levels[count++] = sketch;
    return count;
}

bool km_sketches_create(size_t n, const km_sketch *sketch, km_sketches *sketches) {
    const km_sketch *levels[KM_LEVELS];
    size_t count = km_sketch_levels(sketch, levels);
    *sketches = (km_sketches){.corrections = km_allocate(n, sizeof *sketches->corrections)};
    bool good = sketches->corrections;
    for (size_t l = 0; l < count; l++) {
        sketches->bytes[l] = km_allocate(n, levels[l]->numbers);
        sketches->errors[l] = km_allocate(n, sizeof(float));
        good = good && sketches->bytes[l] && sketches->errors[l];
    }
    for (size_t i = 0; good && i < n; i++)
        sketches->errors[0][i] = -1;
    if (!good)
        km_sketches_free(sketches);
    return good;
}

void km_sketches_free(km_sketches *sketches) {
    for (size_t l = 0; l < KM_LEVELS; l++) {
        free(sketches->bytes[l]);
        free(sketches->errors[l]);
    }
    free(sketches->corrections);
    *sketches = (km_sketches){.corrections = NULL};
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
    uint8_t column[KM_SKETCH_ROWS];
    float seen2[KM_SKETCH_ROWS];
    memset(errors, 0, n * sizeof *errors);
    for (size_t j = 0; j < sketch->count; j++) {
        km_round_numbers(sums + j * n, n, sketch->offsets[j], sketch->scale, column, errors);
        for (size_t i = 0; i < n; i++)
            bytes[i * sketch->numbers + j] = column[i];
    }
    km_image_squares(sketch->inverse, sketch->count, sums, sketch->offsets, n, seen2);
    for (size_t i = 0; i < n; i++) {
        uint8_t rest = round_rest(sketch, ways2[i], seen2[i], &errors[i]);
        memset(bytes + i * sketch->numbers + sketch->count, rest, KM_REST);
        errors[i] = errors[i] * 1.0001F + 0.01F; /* more than the arithmetic is off by */
    }
}
