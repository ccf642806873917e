/*
 * Features that are real numbers, float32.
 *
 * Points are kept without an offset of each column, near its middle, and times one power of two for
 * all columns, so that squared distances neither overflow nor vanish, wherever the points lie. A
 * column whose values would not all come back exactly from this keeps an offset of 0. Centroids are
 * kept like points; only km_real_feature makes them what users see.
 *
 * Sums depend neither on the number of ranks and threads nor on any order: they are integers.
 */
#ifndef COLL_KMEANS_POINTS_REAL_H
#define COLL_KMEANS_POINTS_REAL_H

#include "app/agreement.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* The largest kept feature, so that squared distances of as many features as may be are float32. */
#define KM_LARGEST_REAL 1e15

typedef struct km_real {
    bool used; /* features are real; else only distances may be */
    double
        distance; /* of bytes with fine centroids: squared distances of 1 are so many units; or 0 */
    /* From here on only with real features. */
    uint64_t total; /* points */
    double scale;
    double *offsets; /* of each column */
    double *units;   /* of each column: in sums, a kept feature of 1 is so many */
    int bits;        /* a kept feature has at most so many in a sum, and as many in the rest */
} km_real;

/* The unit of squared distances of TOTAL rows of DIM features, no two of which differ by more than
 * twice LARGEST. */
double km_real_distance_scale(double largest, uint64_t total, size_t dim);

/*
 * Sets POINTS->real by all ranks' features, which are finite floats in POINTS->data, and changes
 * these to what is kept of them. Collective; on false all ranks have the same problem. The caller
 * frees POINTS->real either way.
 */
struct km_points;
bool km_real_center(struct km_points *points, MPI_Comm comm, app_problem *problem);
void km_real_free(km_real *real);

/* What is kept of a feature, not rounded yet; and the feature again. */
double km_real_keep(const km_real *real, size_t column, double feature);
float km_real_feature(const km_real *real, size_t column, float kept);

/*
 * Adds each kept feature of ROW, in units rounded to the nearest, to SUMS, and to RESTS what that
 * rounding left, in units 2^bits times smaller: so a small feature counts beside a large one.
 */
void km_real_add(const km_real *real, const float *row, size_t dim, int64_t *sums, int64_t *rests);

/* The mean of COUNT kept features of that sum. */
float km_real_mean(const km_real *real, size_t column, int64_t sum, int64_t rest, uint64_t count);

/* The bits of a squared distance as a float, which order as it does; and that float. */
uint32_t km_real_bits(double distance2);
double km_real_value(uint32_t distance2);

/*
 * Finds the unit by which the squared distances of all points, COUNT of them here, fit 63 bits
 * together. Collective; on false all ranks have the same problem.
 */
bool km_real_unit(const km_real *real, const uint32_t *distance2, size_t count, MPI_Comm comm,
                  double *unit, app_problem *problem);

/* A squared distance in units; itself where UNIT is 0, for whole numbers. */
uint64_t km_real_units(double unit, uint32_t distance2);

/*
 * Adds a squared distance to BINS, one for each exponent of a float, exactly: bins of different
 * points may be added up in any order. Their sum is the bits of a double.
 */
enum { KM_REAL_BINS = 256 };
void km_real_tally(uint64_t *bins, uint32_t distance2);
uint64_t km_real_sum(const uint64_t *bins);

/* An objective as a number: from km_real_sum where features are real, else from its units. */
double km_real_objective(const km_real *real, uint64_t objective);

/* The squared distance between two vectors, added up in the same order always. */
double km_real_distance2(const float *a, const float *b, size_t dim);

#endif
