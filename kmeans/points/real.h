/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real features, float32.
 *
 * A feature is stored as (feature - offset) * scale. Each column has an offset near its middle, and
 * all columns have the same scale, a power of two. So squared distances neither overflow nor
 * vanish, wherever the points are. A column of float32 has an offset of 0 if its values could not
 * all be restored exactly otherwise. Centroids are stored like points; km_real_feature converts
 * them to the user's values.
 *
 * Sums are integers: they depend neither on the number of ranks and threads nor on any order.
 */
#ifndef COLL_KMEANS_POINTS_REAL_H
#define COLL_KMEANS_POINTS_REAL_H

#include "app/agreement.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* A limit for stored features with which squared distances over all features fit float32. */
#define KM_LARGEST_REAL 1e15

typedef struct km_real {
    bool used;      /* features are real; if not, only distances may be real */
    bool unit;      /* rows and centroids have length 1 (km_points_use_cosine) */
    uint64_t total; /* number of points, or the sum of their weights */
    /* The members below are only for real features. */
    double scale;
    double *offsets; /* offset of each column */
    double *units;   /* for each column: units of a sum that make up a stored feature of 1 */
    int bits;        /* bits of a stored feature in its sum, and of the remainder in a second sum */
} km_real;

/*
 * The features of this rank, row after row: FLOATS, which are finite, or EXACT, which are finite
 * when rounded to float32. Columns of EXACT keep more digits if their range is small compared with
 * their values. One of the two is NULL.
 */
typedef struct km_features {
    const float *floats;
    const double *exact;
} km_features;

/*
 * Chooses POINTS->real for all ranks' features and stores the features in POINTS->data, using
 * THREADS threads. If FROM is NULL, the features are the floats in POINTS->data. Collective; on
 * false all ranks have the same problem. The caller frees POINTS->real in either case.
 */
struct km_points;
bool km_real_center(struct km_points *points, const km_features *from, int threads, MPI_Comm comm,
                    app_problem *problem);
void km_real_free(km_real *real);

/* Changes the units so that sums over points whose weights add up to TOTAL fit 62 bits. */
void km_real_set_total(km_real *real, uint64_t total, size_t dim);

/*
 * Convert a feature to its stored form, not rounded yet; and a stored feature to the user's value.
 */
static inline double km_real_store(const km_real *real, size_t column, double feature) {
    return (feature - real->offsets[column]) * real->scale;
}
float km_real_feature(const km_real *real, size_t column, float kept);

/*
 * Adds each stored feature of ROW to SUMS, in units and rounded to the nearest, and the remainder
 * of that rounding to RESTS, in units 2^bits times smaller, so that small features are not lost
 * next to large ones. Both are multiplied by WEIGHT.
 */
void km_real_add(const km_real *real, const float *row, size_t dim, uint64_t weight, int64_t *sums,
                 int64_t *rests);

/* Scales a row of the user's values to length 1. Returns false if it is 0. */
bool km_real_scale_to_unit(float *row, size_t dim);

/* Scales a stored row, unless it is 0, so that it has length 1 in the user's values. */
void km_real_normalise(const km_real *real, float *row, size_t dim);

/* Returns the mean of stored features from their SUM and REST; their weights add up to COUNT. */
float km_real_mean(const km_real *real, size_t column, int64_t sum, int64_t rest, uint64_t count);

/*
 * Convert a squared distance to the bits of a float and back. As integers, the bits have the same
 * order as the distances.
 */
uint32_t km_real_bits(double distance2);
double km_real_value(uint32_t distance2);

/*
 * Sets *UNIT to a factor, a power of two, with which the weighted squared distances of all points
 * add up to less than 2^63. This rank has COUNT points, with the squared distances DISTANCE2 (bits
 * of floats). Collective; on false all ranks have the same problem.
 */
bool km_real_find_unit(const km_real *real, const uint32_t *distance2, size_t count, MPI_Comm comm,
                       double *unit, app_problem *problem);

/*
 * Returns UNIT times a squared distance given as the bits of a float, rounded down. If UNIT is 0,
 * DISTANCE2 is an integer, and is returned itself.
 */
uint64_t km_real_to_units(double unit, uint32_t distance2);

/*
 * Adds a squared distance, times WEIGHT, exactly to BINS, one for each exponent of a float. Bins of
 * different points may be added in any order. km_real_sum_bins returns the bits of their sum as a
 * double.
 */
enum { KM_REAL_BINS = 256 };
void km_real_add_to_bins(uint64_t *bins, uint32_t distance2, uint64_t weight);
uint64_t km_real_sum_bins(const uint64_t *bins);

/* Returns the squared distance between two vectors, always added up in the same order. */
double km_real_distance2(const float *a, const float *b, size_t dim);

#endif
