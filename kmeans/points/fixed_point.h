/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fixed-point centroids of points that are unsigned bytes. A feature is a multiple of 2^-16 from 0
 * to 255, which float32 holds exactly, and all arithmetic on it is exact, in integers. No MPI.
 *
 * So that the kernels for bytes can multiply by it, a feature c is stored as the three base-256
 * digits h, a and b of 2^16 c + 0x8080:
 *
 *     c = h + (a - 128) / 2^8 + (b - 128) / 2^16.
 *
 * Each digit has a plane: first the h of all rows, row after row, then all a, then all b. The first
 * plane is thus the centroids rounded to bytes (fractions from 0x7f80 / 2^16 = 0.498 on are rounded
 * up).
 */
#ifndef COLL_KMEANS_POINTS_FIXED_POINT_H
#define COLL_KMEANS_POINTS_FIXED_POINT_H

#include "app/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    KM_PLANES = 3,
    KM_FRACTION_BITS = 16,
    KM_FIXED_POINT_MAX_DIM =
        32768, /* so that a product minus half a square fits 32 bits (pruning.h) */
};

/* Returns whether VALUE is a multiple of 2^-16 from 0 to 255. */
bool km_is_fixed_point(double value);

/* K rows of DIM features in planes. */
typedef struct km_planes {
    const uint8_t *data;
    size_t k, dim;
} km_planes;

/* Returns a row of one plane. */
static inline const uint8_t *km_plane_row(const km_planes *of, size_t plane, size_t row) {
    return of->data + (plane * of->k + row) * of->dim;
}

/* Sets the fractions of row ROW to 0, so that the row equals its row of the first plane. */
void km_planes_clear_fractions(uint8_t *planes, size_t k, size_t dim, size_t row);

/*
 * Set feature I, counted over all rows, of planes of PLANE bytes each: to the mean SUM / COUNT,
 * COUNT > 0, or to VALUE, from 0 to 255. Both are rounded to the nearest multiple of 2^-16, half
 * up.
 */
void km_planes_set_mean(uint8_t *planes, size_t plane, size_t i, uint64_t sum, uint64_t count);
void km_planes_set(uint8_t *planes, size_t plane, size_t i, double value);

/*
 * Does the same as km_planes_set, but reports a problem that names PATH if VALUE is not from 0 to
 * 255.
 */
bool km_planes_set_checked(uint8_t *planes, size_t plane, size_t i, double value, const char *path,
                           app_problem *problem);

/* Returns feature I, counted over all rows. */
double km_planes_feature(const km_planes *of, size_t i);

/* Copies the features of row ROW, exactly, to FEATURES. */
void km_planes_get(const km_planes *of, size_t row, float *features);

/* Returns the squared distance between rows ROW of two sets, in units of 2^-32. */
uint64_t km_planes_shift2(const km_planes *a, const km_planes *b, size_t row);

/* Returns the squared distance between POINT and row ROW, in units of 2^-32. */
uint64_t km_planes_distance2(const km_planes *of, size_t row, const uint8_t *point);

/*
 * Converts a squared distance in units of 2^-32 to the bits of a float; as integers, the bits have
 * the same order as the distances.
 */
uint32_t km_fixed_point_bits(uint64_t distance2);

/*
 * Precomputed for each row truncated after plane i: norms[i], the sum of its squares (in units of
 * 2^-16 for i = 1 and 2^-32 for i = 2; for i = 0 the kernel computes it); and errors[i], its
 * distance from the full row, or a little more.
 */
typedef struct km_fixed_point {
    km_planes planes;
    uint64_t *norms[KM_PLANES]; /* [0] is NULL */
    float *errors[KM_PLANES - 1];
} km_fixed_point;

/*
 * Creates a km_fixed_point for PLANES, using THREADS threads. The caller keeps the data of PLANES.
 * Returns 0 or ENOMEM.
 */
int km_fixed_point_create(const km_planes *planes, int threads, km_fixed_point **fixed_point);
void km_fixed_point_free(km_fixed_point *fixed_point);

#endif
