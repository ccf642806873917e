/*
 * Features that are real numbers, float32: how sums over them are made to depend neither on the
 * number of ranks and threads nor on any order. Features and squared distances are summed up as
 * integers, in units so small that all together they just fit 63 bits: 2^-62 of the largest
 * possible sum. A mean is thus as exact as if added up in 62 bits.
 */
#ifndef COLL_KMEANS_POINTS_REAL_H
#define COLL_KMEANS_POINTS_REAL_H

#include "app/agreement.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* The largest feature, so that squared distances of as many features as may be are float32, too. */
#define KM_LARGEST_REAL 1e15

/* The units, as powers of two: how many of them make 1. */
typedef struct km_real {
    bool used; /* features are real; else only distances may be */
    double feature;
    double distance; /* 0: squared distances are whole numbers */
} km_real;

/* The unit of squared distances of TOTAL rows of DIM features, no two of which differ by more than
 * twice LARGEST. */
double km_real_distance_scale(double largest, uint64_t total, size_t dim);

/*
 * Finds the units for the sums of TOTAL rows of DIM features, of which COUNT are here at FEATURES.
 * Collective; on false all ranks have the same problem.
 */
bool km_real_scale(const float *features, size_t count, uint64_t total, size_t dim, MPI_Comm comm,
                   km_real *real, app_problem *problem);

/* A feature, in units, the rest cut off. */
static inline int64_t km_real_feature(const km_real *real, float feature) {
    return (int64_t)((double)feature * real->feature);
}

/* The mean of COUNT features of that sum. */
float km_real_mean(const km_real *real, int64_t sum, uint64_t count);

/*
 * What a squared distance that km_assign found adds to the objective; the objective as a number.
 * For whole numbers that is the same.
 */
uint64_t km_real_units(const km_real *real, uint32_t distance2);
double km_real_objective(const km_real *real, uint64_t units);

/* The bits of a squared distance as a float, which order as it does. */
uint32_t km_real_bits(double distance2);

/* The squared distance between two vectors, added up in the same order always. */
double km_real_distance2(const float *a, const float *b, size_t dim);

#endif
