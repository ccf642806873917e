/*
 * Fine centroids: of points that are unsigned bytes, but themselves between bytes. A feature is a
 * multiple of 2^-16 from 0 to 255, which float32 holds exactly, and all arithmetic on it is exact,
 * in integers. No MPI.
 *
 * So that the kernels for bytes can multiply by it, a feature is kept as the three digits, to the
 * base 256, of 2^16 c + 0x8080:
 *
 *     c = h + (a - 128) / 2^8 + (b - 128) / 2^16.
 *
 * Each digit has a plane: first the h of all rows, row after row, then all a, then all b. The first
 * plane is thus the centroids rounded to bytes.
 */
#ifndef COLL_KMEANS_POINTS_FINE_H
#define COLL_KMEANS_POINTS_FINE_H

#include "app/problem.h"

#include <stddef.h>
#include <stdint.h>

enum {
    KM_PLANES = 3,
    KM_FINE_BITS = 16,
    KM_FINE_MAX_DIM = 32768, /* as half a square must fit beside a product in 32 bits (sieve.h) */
};

/* K rows of DIM features in planes. */
typedef struct km_planes {
    const uint8_t *data;
    size_t k, dim;
} km_planes;

/* A row of one plane. */
static inline const uint8_t *km_plane_row(const km_planes *of, size_t plane, size_t row) {
    return of->data + (plane * of->k + row) * of->dim;
}

/* Makes row ROW of the first plane that of all, without fractions. */
void km_planes_widen(uint8_t *planes, size_t k, size_t dim, size_t row);

/*
 * Feature I of all, of planes of PLANE bytes, becomes the mean SUM / COUNT, COUNT > 0, rounded to
 * the nearest, half up; or VALUE, from 0 to 255, rounded to the nearest.
 */
void km_planes_set_mean(uint8_t *planes, size_t plane, size_t i, uint64_t sum, uint64_t count);
void km_planes_set(uint8_t *planes, size_t plane, size_t i, double value);

/* The same with a VALUE of the file at PATH: a problem where it is not from 0 to 255. */
bool km_planes_take(uint8_t *planes, size_t plane, size_t i, double value, const char *path,
                    app_problem *problem);

/* The features of row ROW, exactly. */
void km_planes_get(const km_planes *of, size_t row, float *features);

/* The squared distance between row ROW of two sets, in units of 2^-32. */
uint64_t km_planes_way2(const km_planes *a, const km_planes *b, size_t row);

/* The same between a point and row ROW. */
uint64_t km_planes_distance2(const km_planes *of, size_t row, const uint8_t *point);

/* A squared distance in units of 2^-32 as the bits of a float, which order as it does. */
uint32_t km_fine_bits(uint64_t distance2);

/*
 * Of each row, by its first planes alone, up to one: the sum of its squares, in units of 2^-16 up
 * to plane 1 and 2^-32 up to plane 2 (up to plane 0 a kernel has it); and how far that is from the
 * row, or a little more.
 */
typedef struct km_fine {
    km_planes planes;
    uint64_t *norms[KM_PLANES]; /* [0] is NULL */
    float *errors[KM_PLANES - 1];
} km_fine;

/* For K rows, by THREADS threads. PLANES' data stay the caller's, who keeps them. 0 or ENOMEM. */
int km_fine_create(const km_planes *planes, int threads, km_fine **fine);
void km_fine_free(km_fine *fine);

#endif
