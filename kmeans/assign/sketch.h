/*
 * Sketches: a few bytes of a row of features by which two rows are known to be far apart without
 * looking at the rest of them. No MPI.
 *
 * A sketch is a linear map of the row, cut off and rounded: of y(x) = A (x - mean) scale, each of
 * its numbers goes to the nearest in -128 ... 127, first by being cut off there, which brings
 * no two rows farther apart, and then to an integer q(x), at a distance of e(x). So with sigma, the
 * largest singular value of A,
 *
 *     |q(x) - q(c)| <= sigma scale |x - c| + e(x) + e(c),
 *
 * whatever A is: nothing is lost by leaving out a row whose sketch is farther. The more of the
 * rows' variance A keeps, the closer the two sides are, so A's rows are the principal axes, as in
 * principal component analysis, turned among themselves so that each keeps about as much, and
 * rounded to bytes themselves.
 *
 * Of what A does not see, R (x - mean), a sketch holds the length. With P and R the projections
 * onto the space of A's rows and onto the rest, lengths differ by no more than their vectors do, so
 *
 *     |A d|^2 + sigma^2 (|R x| - |R c|)^2 <= sigma^2 (|P d|^2 + |R d|^2) = sigma^2 |d|^2, d = x -
 * c,
 *
 * and the above holds for A with that length, times sigma, as one more row. It is cut into equal
 * numbers, whose squares add up to its own. By G = A A^T and y = A (x - mean),
 * |R (x - mean)|^2 = |x - mean|^2 - y^T G^-1 y.
 *
 * This helps much, for centroids, which are means, leave less out than points do.
 */
#ifndef COLL_KMEANS_ASSIGN_SKETCH_H
#define COLL_KMEANS_ASSIGN_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KM_AXES = 64,                  /* numbers in a sketch, one byte each: of A, at most */
    KM_COARSE_AXES = 16,           /* the same in a coarse one */
    KM_REST = 4,                   /* and of what A leaves out */
    KM_SKETCH = KM_AXES + KM_REST, /* all, at most */
    KM_SKETCH_LEAST_DIM = 256,     /* of rows that have sketches */
    KM_LEVELS = 2,                 /* a coarse sketch, and the sketch itself */
};

typedef struct km_sketch {
    size_t dim;
    size_t count, numbers;    /* of A's rows, a power of two; in a sketch: KM_REST more */
    uint8_t *axes;            /* A: COUNT rows of DIM numbers, 128 added to each; and the mean */
    int32_t offsets[KM_AXES]; /* A mean */
    float scale;
    float stretch;     /* sigma * scale, no smaller */
    double share;      /* of the variance of the rows it was made from, that A keeps */
    uint32_t mean2;    /* |mean|^2 */
    float *inverse;    /* of G's Cholesky factor: COUNT rows, lower triangle */
    float middle_rest; /* the usual length of what A leaves out, times stretch */
    float rest_error;  /* how far y^T G^-1 y may be off: this share of |x - mean|^2, and this ... */
    float rest_slack;  /* ... times |x - mean| */
    struct km_sketch *coarse; /* by the first of the axes, to be looked at before; or NULL */
} km_sketch;

/*
 * Makes the sketch for rows like these N, of DIM bytes each, of which it looks at some; the same
 * one every time. It is NULL where sketches can't help: few dimensions, few rows, or rows whose
 * variance is in all directions. Returns 0 or ENOMEM. Free it with km_sketch_free.
 */
int km_sketch_create(const uint8_t *rows, size_t n, size_t dim, km_sketch **sketch);
void km_sketch_free(km_sketch *sketch);

/* The sketch and its coarse one, if it has one: the coarsest first. Returns how many. */
size_t km_sketch_levels(const km_sketch *sketch, const km_sketch *levels[KM_LEVELS]);

/*
 * The sketches of points, kept for the next assignment: what km_sketch_round makes of each, by each
 * of km_sketch_levels; and its correction (kernel.h).
 */
typedef struct km_sketches {
    uint8_t *bytes[KM_LEVELS];
    float *errors[KM_LEVELS]; /* negative where sketches are still to be made */
    uint32_t *corrections;
} km_sketches;

/* Room for the sketches of N points by SKETCH, none made yet; false without memory. */
bool km_sketches_create(size_t n, const km_sketch *sketch, km_sketches *sketches);
void km_sketches_free(km_sketches *sketches);

/*
 * The sketches of N rows, at most KM_SKETCH_ROWS, from their products with the axes: SUMS[j * N +
 * i] is that of row i with axis j, off by 1/2 at most; and from WAYS2[i] = |x - mean|^2. Row i's
 * goes to BYTES + i * NUMBERS, 128 added to each number, and e of it, or a little more, to
 * ERRORS[i].
 */
enum { KM_SKETCH_ROWS = 64 };
void km_sketch_round(const km_sketch *sketch, const int32_t *sums, const float *ways2, size_t n,
                     uint8_t *bytes, float *errors);

/*
 * |x - mean|^2 of a row of bytes whose correction (kernel.h) is CORRECTION and whose product with
 * the last row of the axes, the mean, is SUM.
 */
float km_sketch_way2(const km_sketch *sketch, uint32_t correction, int32_t sum);

#endif
