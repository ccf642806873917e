/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/projection.h"

#include "kmeans/assign/vectors.h"
#include "kmeans/points/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE = 1024,  /* number of rows from which the axes are found */
    ROUNDS = 4,     /* iterations that find the axes */
    SQUARINGS = 10, /* of G, to bound its largest eigenvalue */
    WIDEST = 200,   /* largest number in sketches of the sample before clamping; a few numbers are
                       clamped */
};

/* If A keeps a smaller share of the variance, sketches rule out too few rows. */
static const double least_share = 0.4;

/* Memory for finding the axes: the sample of rows less their mean, and the axes. */
typedef struct axes_search {
    size_t rows, dim, count; /* COUNT is the number of axes in use */
    float *centered;         /* rows x dim */
    float *mean;
    float *found;  /* KM_AXES x dim: the principal axes, in descending order of variance */
    float *axes;   /* count x dim: the axes in use, mixed */
    float *images; /* rows x count */
} axes_search;

static void axes_search_free(axes_search *space) {
    free(space->centered);
    free(space->mean);
    free(space->found);
    free(space->axes);
    free(space->images);
}

static bool axes_search_create(axes_search *space, size_t rows, size_t dim) {
    *space = (axes_search){.rows = rows, .dim = dim, .count = KM_AXES};
    space->centered = malloc(rows * dim * sizeof(float));
    space->mean = calloc(dim, sizeof(float));
    space->found = malloc(dim * KM_AXES * sizeof(float));
    space->axes = malloc(dim * KM_AXES * sizeof(float));
    space->images = malloc(rows * KM_AXES * sizeof(float));
    return space->centered && space->mean && space->found && space->axes && space->images;
}

/*
 * Samples ROWS, every (N / sample size)th one, and subtracts the sample's mean, rounded to
 * integers. Returns the sum of the squares of the differences.
 */
static double center_sample(axes_search *space, const uint8_t *rows, size_t n) {
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

static float *axis_of(const axes_search *space, size_t j) {
    return space->axes + j * space->dim;
}

/* Computes images = centered axes^T. Returns the sum of their squares. */
static double project_sample(axes_search *space) {
    double squares = 0;
    for (size_t i = 0; i < space->rows; i++)
        for (size_t j = 0; j < space->count; j++) {
            float image = km_dot(space->centered + i * space->dim, axis_of(space, j), space->dim);
            space->images[i * space->count + j] = image;
            squares += (double)image * (double)image;
        }
    return squares;
}

/* Computes axes = images^T centered. */
static void project_back(axes_search *space) {
    memset(space->axes, 0, space->dim * space->count * sizeof(float));
    for (size_t i = 0; i < space->rows; i++)
        for (size_t j = 0; j < space->count; j++)
            km_add_multiple(axis_of(space, j), space->images[i * space->count + j],
                            space->centered + i * space->dim, space->dim);
}

/* Makes the axes orthonormal (Gram-Schmidt). */
static void orthonormalize(axes_search *space) {
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

/* Finds the principal axes approximately, by orthogonal iteration. */
static void find_axes(axes_search *space) {
    uint64_t state = 1;
    for (size_t i = 0; i < space->dim * KM_AXES; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        space->axes[i] = (float)(state >> 40) - (float)(1 << 23);
    }
    orthonormalize(space);
    for (int round = 0; round < ROUNDS; round++) {
        project_sample(space);
        project_back(space);
        orthonormalize(space);
    }
    memcpy(space->found, space->axes, space->dim * KM_AXES * sizeof(float));
}

/*
 * Multiplies the axes by a Hadamard matrix, which is orthogonal up to a factor, so that each axis
 * then keeps about the same variance.
 */
static void mix_axes(axes_search *space) {
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

/*
 * Sets A, rounded to bytes, and A mean. Returns the factor by which the axes are multiplied to get
 * A's rows.
 */
static float round_axes(const axes_search *space, km_projection *projection) {
    float largest = 0;
    for (size_t i = 0; i < space->dim * space->count; i++)
        largest = fmaxf(largest, fabsf(space->axes[i]));
    float factor = largest > 0 ? 127 / largest : 0;
    projection->mean2 = 0;
    for (size_t d = 0; d < space->dim; d++) {
        projection->axes[space->count * space->dim + d] = (uint8_t)space->mean[d];
        projection->mean2 += (uint32_t)(space->mean[d] * space->mean[d]);
    }
    for (size_t j = 0; j < space->count; j++) {
        projection->offsets[j] = 0;
        for (size_t d = 0; d < space->dim; d++) {
            int32_t rounded = (int32_t)rintf(axis_of(space, j)[d] * factor);
            projection->axes[j * space->dim + d] = (uint8_t)(rounded + 128);
            projection->offsets[j] += rounded * (int32_t)space->mean[d];
        }
    }
    return factor;
}

/* Returns the product of two rows of A. */
static int32_t axes_product(const km_projection *projection, size_t i, size_t j) {
    const uint8_t *a = projection->axes + i * projection->dim,
                  *b = projection->axes + j * projection->dim;
    int32_t sum = 0;
    for (size_t d = 0; d < projection->dim; d++)
        sum += (a[d] - 128) * (b[d] - 128);
    return sum;
}

/* Only the first COUNT rows and columns are used. */
typedef double square_matrix[KM_AXES][KM_AXES];

static double trace(square_matrix m, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++)
        sum += m[j][j];
    return sum;
}

/* Computes m = m m / trace(m)^2. */
static void square(square_matrix m, size_t count) {
    square_matrix result = {{0}};
    double factor = 1 / trace(m, count) / trace(m, count);
    for (size_t i = 0; i < count; i++)
        for (size_t l = 0; l < count; l++)
            for (size_t j = 0; j < count; j++)
                result[i][j] += factor * m[i][l] * m[l][j];
    memcpy(m, result, sizeof result);
}

/* Computes G in doubles, which hold it exactly. */
static void make_gram(const km_projection *projection, square_matrix gram) {
    for (size_t i = 0; i < projection->count; i++)
        for (size_t j = 0; j < projection->count; j++)
            gram[i][j] = axes_product(projection, i, j);
}

/*
 * Returns a close upper bound of A's largest singular value. The largest eigenvalue of G is at most
 * trace(G^n)^(1/n), n = 2^SQUARINGS, as the trace is the sum of the eigenvalues' powers. square()
 * divides by the trace, whose logarithm is added again here.
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

/* Replaces G by its Cholesky factor. Returns false if rows of A are nearly dependent. */
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

/*
 * Stores the inverse of a lower triangular matrix in PROJECTION. Returns the Frobenius norm of the
 * inverse.
 */
static double invert(square_matrix lower, km_projection *projection) {
    square_matrix inverse = {{0}};
    double squares = 0;
    for (size_t j = 0; j < projection->count; j++)
        for (size_t i = j; i < projection->count; i++) {
            double sum = i == j;
            for (size_t l = j; l < i; l++)
                sum -= lower[i][l] * inverse[l][j];
            inverse[i][j] = sum / lower[i][i];
            projection->inverse[i * projection->count + j] = (float)inverse[i][j];
            squares += inverse[i][j] * inverse[i][j];
        }
    return sqrt(squares);
}

/*
 * Prepares the computation of |R (x - mean)| (projection.h). With the inverse W, y^T G^-1 y = |W
 * y|^2. Errors are bounded as follows. Each component of W y sums up at most n products, n being
 * the number of axes. Float arithmetic makes a component wrong by at most (n + 4) u times the sum
 * of the products' absolute values, u = 2^-24, and W y by at most (n + 4) u |W|_F |y|, where the
 * length of y is at most sigma |x - mean|. The sums of squares add less than 2^-17 |x - mean|^2.
 * Products y that are wrong by 1/2 add |W|_F sqrt(n) / 2.
 */
static void prepare_rest(km_projection *projection, const axes_search *space, square_matrix gram,
                         double sigma) {
    double norm = invert(gram, projection), sum = 0, count = (double)projection->count;
    double off = (count + 4) * ldexp(1, -24) * norm * sigma;
    projection->rest_error = (float)(2 * off + off * off + ldexp(1, -17));
    projection->rest_slack = (float)(2.1 * norm * sqrt(count) / 2);
    for (size_t i = 0; i < space->rows; i++) {
        const float *row = space->centered + i * space->dim,
                    *image = space->images + i * space->count;
        float rest =
            km_dot(row, row, space->dim) - km_dot(image, image, space->count) / (float)space->count;
        sum += (double)sqrtf(fmaxf(rest, 0));
    }
    projection->middle_rest = (float)sum / (float)space->rows * projection->stretch;
}

/*
 * Returns the scale at which the largest absolute value in the sketches of the sample becomes
 * WIDEST. The rows of A (projection.h) are the axes multiplied by FACTOR,
 * and the sample is projected onto the axes themselves.
 */
static float fit_scale(axes_search *space, float factor) {
    float largest = 1;
    project_sample(space);
    for (size_t i = 0; i < space->rows * space->count; i++)
        largest = fmaxf(largest, fabsf(space->images[i]) * factor);
    return WIDEST / largest;
}

/* Fills MADE, except for its coarse projection, from the first MADE->count axes that were found. */
static void fill_sketch(km_projection *made, axes_search *space, double variance) {
    space->count = made->count;
    memcpy(space->axes, space->found, made->count * made->dim * sizeof(float));
    made->share = variance > 0 ? project_sample(space) / variance : 0;
    mix_axes(space);
    float factor = round_axes(space, made);
    square_matrix gram;
    make_gram(made, gram);
    double sigma = largest_singular_value(gram, made->count);
    made->scale = fit_scale(space, factor);
    made->stretch = (float)(sigma * (double)made->scale * (1 + 1e-6));
    if (!factorize(gram, made->count))
        made->stretch = 0; /* makes the projection useless; see is_useful */
    else
        prepare_rest(made, space, gram, sigma);
}

static km_projection *allocate_sketch(size_t count, size_t dim) {
    km_projection *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    *made = (km_projection){.dim = dim,
                            .count = count,
                            .numbers = count + KM_REST,
                            .axes = malloc((count + 1) * dim),
                            .inverse = calloc(count * count, sizeof *made->inverse)};
    if (made->axes && made->inverse)
        return made;
    km_projection_free(made);
    return NULL;
}

static bool is_useful(const km_projection *projection) {
    return projection->share >= least_share && projection->stretch > 0;
}

int km_projection_create(const uint8_t *rows, size_t n, size_t dim, km_projection **projection) {
    *projection = NULL;
    if (dim < KM_SKETCH_LEAST_DIM || n < SAMPLE)
        return 0;
    axes_search space = {0};
    km_projection *close = allocate_sketch(KM_AXES, dim),
                  *coarse = allocate_sketch(KM_COARSE_AXES, dim);
    int error = close && coarse && axes_search_create(&space, SAMPLE, dim) ? 0 : ENOMEM;
    if (!error) {
        double variance = center_sample(&space, rows, n);
        find_axes(&space);
        fill_sketch(coarse, &space, variance);
        fill_sketch(close, &space, variance);
    }
    axes_search_free(&space);
    if (!error && is_useful(close)) {
        *projection = close;
        if (is_useful(coarse))
            close->coarse = coarse;
        else
            km_projection_free(coarse);
        return 0;
    }
    km_projection_free(coarse);
    km_projection_free(close);
    return error;
}

void km_projection_free(km_projection *projection) {
    if (!projection)
        return;
    km_projection_free(projection->coarse);
    free(projection->axes);
    free(projection->inverse);
    free(projection);
}

size_t km_projection_levels(const km_projection *projection,
                            const km_projection *levels[KM_SKETCH_LEVELS]) {
    size_t count = 0;
    if (projection->coarse)
        levels[count++] = projection->coarse;
    levels[count++] = projection;
    return count;
}

bool km_sketch_cache_create(size_t n, const km_projection *projection, km_sketch_cache *sketches) {
    const km_projection *levels[KM_SKETCH_LEVELS];
    size_t count = km_projection_levels(projection, levels);
    *sketches = (km_sketch_cache){.corrections = km_allocate(n, sizeof *sketches->corrections)};
    bool good = sketches->corrections;
    for (size_t l = 0; l < count; l++) {
        sketches->bytes[l] = km_allocate(n, levels[l]->numbers);
        sketches->errors[l] = km_allocate(n, sizeof(float));
        good = good && sketches->bytes[l] && sketches->errors[l];
    }
    for (size_t i = 0; good && i < n; i++)
        sketches->errors[0][i] = -1;
    if (!good)
        km_sketch_cache_free(sketches);
    return good;
}

void km_sketch_cache_free(km_sketch_cache *sketches) {
    for (size_t l = 0; l < KM_SKETCH_LEVELS; l++) {
        free(sketches->bytes[l]);
        free(sketches->errors[l]);
    }
    free(sketches->corrections);
    *sketches = (km_sketch_cache){.corrections = NULL};
}

float km_projection_deviation2(const km_projection *projection, uint32_t correction, int32_t sum) {
    return (float)(correction + projection->mean2 - 2 * (uint32_t)sum);
}

/*
 * Returns the clamped and rounded number that, repeated KM_REST times, stands for |R (x - mean)| in
 * a sketch. *ERROR is the square of the error of the sketch's other numbers on entry, and the error
 * e of the sketch on return.
 */
static uint8_t round_rest(const km_projection *projection, float deviation2, float projected2,
                          float *error) {
    const float cut = sqrtf(KM_REST);
    float off2 = projection->rest_error * deviation2 +
                 projection->rest_slack * (sqrtf(deviation2) * 1.0001F + projection->rest_slack);
    float rest = sqrtf(fmaxf(deviation2 - projected2, 0));
    float off = fminf(sqrtf(off2), off2 / fmaxf(rest, 1e-6F)) * 1.001F;
    float number = (rest * projection->stretch - projection->middle_rest) / cut + 128;
    float clamped = fmaxf(0, fminf(number, 255)), rounded = floorf(clamped + 0.5F);
    *error = sqrtf(*error + KM_REST * (clamped - rounded) * (clamped - rounded)) +
             off * projection->stretch;
    return (uint8_t)fminf(rounded, 255);
}

void km_projection_sketch(const km_projection *projection, const int32_t *sums,
                          const float *deviations2, size_t n, uint8_t *bytes, float *errors) {
    uint8_t column[KM_SKETCH_ROWS];
    float projected2[KM_SKETCH_ROWS];
    memset(errors, 0, n * sizeof *errors);
    for (size_t j = 0; j < projection->count; j++) {
        km_round_numbers(sums + j * n, n, projection->offsets[j], projection->scale, column,
                         errors);
        for (size_t i = 0; i < n; i++)
            bytes[i * projection->numbers + j] = column[i];
    }
    km_image_squares(projection->inverse, projection->count, sums, projection->offsets, n,
                     projected2);
    for (size_t i = 0; i < n; i++) {
        uint8_t rest = round_rest(projection, deviations2[i], projected2[i], &errors[i]);
        memset(bytes + i * projection->numbers + projection->count, rest, KM_REST);
        errors[i] = errors[i] * 1.0001F + 0.01F; /* covers the rounding of this arithmetic */
    }
}
