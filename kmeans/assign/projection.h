/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sketches: a few bytes computed from a row of features. If the sketches of two rows are far apart,
 * so are the rows. No MPI.
 *
 * A sketch is a quantised linear projection of the row x: y(x) = A (x - mean) scale. Each number of
 * y is clamped to -128 ... 127, which moves no two rows farther apart, and then rounded to an
 * integer. The result is q(x); e(x) is its distance from the clamped y(x). So with sigma, the
 * largest singular value of A,
 *
 *     |q(x) - q(c)| <= sigma scale |x - c| + e(x) + e(c)
 *
 * for any A. A search for the rows within a distance D of x may therefore skip every row c whose
 * sketch is farther from q(x) than the right-hand side with |x - c| = D. The more of the rows'
 * variance A keeps, the tighter the bound. So A's rows are the principal axes of the rows
 * (principal component analysis), rotated among themselves so that each keeps about the same
 * variance, and rounded to bytes.
 *
 * Let P and R be the projections onto the space of A's rows and onto its complement, and d = x - c.
 * y does not depend on R (x - mean), so a sketch also holds the length of this part. The lengths of
 * two vectors differ by at most the length of the vectors' difference, so
 *
 *     |A d|^2 + sigma^2 (|R x| - |R c|)^2 <= sigma^2 (|P d|^2 + |R d|^2) = sigma^2 |d|^2,
 *
 * and the bound above still holds if that length, times sigma scale, is added to y as one more
 * number. A sketch has KM_REST equal numbers in its place, whose squares add up to its square. With
 * G = A A^T,
 *
 *     |R (x - mean)|^2 = |x - mean|^2 - y^T G^-1 y, y = A (x - mean).
 *
 * The length helps much: being means, centroids have a smaller part outside A's space than points.
 */
#ifndef COLL_KMEANS_ASSIGN_PROJECTION_H
#define COLL_KMEANS_ASSIGN_PROJECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KM_AXES = 64,                  /* rows of A, at most: numbers of one byte in a sketch */
    KM_COARSE_AXES = 16,           /* the same for a coarse sketch */
    KM_REST = 4,                   /* further numbers, for |R (x - mean)| */
    KM_SKETCH = KM_AXES + KM_REST, /* bytes of a sketch, at most */
    KM_SKETCH_LEAST_DIM = 256,     /* rows with fewer dimensions have no sketches */
    KM_SKETCH_LEVELS = 2,          /* a coarse sketch, and the full one */
};

/* The projection from rows to sketches. */
typedef struct km_projection {
    size_t dim;
    size_t count, numbers;    /* A's rows, a power of two; numbers in a sketch: KM_REST more */
    uint8_t *axes;            /* A: COUNT rows of DIM numbers, 128 added to each; then the mean */
    int32_t offsets[KM_AXES]; /* A mean */
    float scale;
    float stretch;                /* sigma * scale, or a little more */
    double share;                 /* the share that A keeps of the variance of the sampled rows */
    uint32_t mean2;               /* |mean|^2 */
    float *inverse;               /* inverse of G's Cholesky factor: COUNT rows, lower triangle */
    float middle_rest;            /* mean of |R (x - mean)| in the sample, times stretch */
    float rest_error;             /* y^T G^-1 y may be off by rest_error |x - mean|^2 ... */
    float rest_slack;             /* ... + rest_slack (|x - mean| + rest_slack) */
    struct km_projection *coarse; /* a coarse projection onto the first axes only, whose sketches
                                     are compared first; or NULL */
} km_projection;

/*
 * Makes the projection for N ROWS of DIM bytes each, and for similar rows, from a sample of ROWS.
 * The result depends on ROWS and, by rounding (vectors.h), on the processor. Sets *PROJECTION to
 * NULL if sketches can't help: few dimensions, few rows, or rows whose variance is spread over all
 * directions. Free it with km_projection_free. Returns 0 or ENOMEM.
 */
int km_projection_create(const uint8_t *rows, size_t n, size_t dim, km_projection **projection);
void km_projection_free(km_projection *projection);

/*
 * Fills LEVELS with the coarse projection, if PROJECTION has one, and PROJECTION itself. Returns
 * their number.
 */
size_t km_projection_levels(const km_projection *projection,
                            const km_projection *levels[KM_SKETCH_LEVELS]);

/*
 * A cache of the sketches of points for the next assignment: what km_projection_sketch computes for
 * each point at each level, and the point's correction (kernel.h).
 */
typedef struct km_sketch_cache {
    uint8_t *bytes[KM_SKETCH_LEVELS];
    float *errors[KM_SKETCH_LEVELS]; /* of level 0: negative while a point has no sketches yet */
    uint32_t *corrections;
} km_sketch_cache;

/*
 * Allocates a cache for the sketches of N points, empty at first. Returns false if memory is short.
 */
bool km_sketch_cache_create(size_t n, const km_projection *projection, km_sketch_cache *sketches);
void km_sketch_cache_free(km_sketch_cache *sketches);

/*
 * Makes the sketches of N rows, at most KM_SKETCH_ROWS. SUMS[j * N + i] is the product of row i and
 * axis j, with an error of 1/2 at most, and DEVIATIONS2[i] = |x - mean|^2. Writes the sketch of row
 * i to BYTES + i * NUMBERS, 128 added to each number, and its error e, or a little more, to
 * ERRORS[i].
 */
enum { KM_SKETCH_ROWS = 64 };
void km_projection_sketch(const km_projection *projection, const int32_t *sums,
                          const float *deviations2, size_t n, uint8_t *bytes, float *errors);

/*
 * Returns |x - mean|^2 of a row of bytes whose correction (kernel.h) is CORRECTION and whose
 * product with the last row of the axes, the mean, is SUM.
 */
float km_projection_deviation2(const km_projection *projection, uint32_t correction, int32_t sum);

#endif
