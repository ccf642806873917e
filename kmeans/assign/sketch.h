/*
 * Sketches: a few bytes of a row of features by which two rows are known to be far apart without
 * looking at the rest of them. No MPI.
 *
 * A sketch is a linear map of the row, cut off and rounded: of y(x) = A (x - mean) scale, each of
 * KM_SKETCH numbers goes to the nearest in -128 ... 127, first by being cut off there, which brings
 * no two rows farther apart, and then to an integer q(x), at a distance of e(x). So with sigma, the
 * largest singular value of A,
 *
 *     |q(x) - q(c)| <= sigma scale |x - c| + e(x) + e(c),
 *
 * whatever A is: nothing is lost by leaving out a row whose sketch is farther. The more of the
 * rows' variance A keeps, the closer the two sides are, so A's rows are the principal axes, as in
 * principal component analysis, turned among themselves so that each keeps about as much, and
 * rounded to bytes themselves.
 */
#ifndef COLL_KMEANS_ASSIGN_SKETCH_H
#define COLL_KMEANS_ASSIGN_SKETCH_H

#include <stddef.h>
#include <stdint.h>

enum { KM_SKETCH = 128 }; /* numbers in a sketch, one byte each */

typedef struct km_sketch {
    size_t dim;
    uint8_t *axes;              /* A: KM_SKETCH rows of DIM numbers, 128 added to each */
    int32_t offsets[KM_SKETCH]; /* A mean */
    float scale;
    float stretch; /* sigma * scale, no smaller */
    double share;  /* of the variance of the rows it was made from, that A keeps */
} km_sketch;

/*
 * Makes the sketch for rows like these N, of DIM bytes each, of which it looks at some; the same
 * one every time. It is NULL where sketches can't help: few dimensions, few rows, or rows whose
 * variance is in all directions. Returns 0 or ENOMEM. Free it with km_sketch_free.
 */
int km_sketch_create(const uint8_t *rows, size_t n, size_t dim, km_sketch **sketch);
void km_sketch_free(km_sketch *sketch);

/*
 * The sketches of N rows, at most KM_SKETCH_ROWS, from their products with the axes: SUMS[j * N +
 * i] is that of row i with axis j. Row i's goes to BYTES + i * KM_SKETCH, 128 added to each number,
 * and e of it, or a little more, to ERRORS[i].
 */
enum { KM_SKETCH_ROWS = 64 };
void km_sketch_round(const km_sketch *sketch, const int32_t *sums, size_t n, uint8_t *bytes,
                     float *errors);

#endif
