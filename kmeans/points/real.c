/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/points/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BITS = 62,    /* in a sum over all points */
    TOP = 24,     /* the largest stored feature is below 2^TOP, and at least half of it */
    SAMPLE = 63,  /* rows from which the offsets are chosen */
    MANTISSA = 23 /* bits of a float */
};

/* Returns the exponent of the least power of two above LARGEST. */
static int exponent_of(double largest) {
    int exponent;
    frexp(largest, &exponent);
    return exponent;
}

/* Returns the power of two that scales LARGEST to at least 2^(BITS - 1) and less than 2^BITS. */
static double scale_of(double largest) {
    return ldexp(1, BITS - exponent_of(largest));
}

static int compare_floats(const void *a, const void *b) {
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

/* Returns feature I, counted over all rows, rounded to float32. */
static float feature_at(const km_features *from, size_t i) {
    return from->exact ? (float)from->exact[i] : from->floats[i];
}

/* Sets OFFSETS to the median of each column over a sample of rows at even distances. */
static bool choose_offsets(const km_points *points, const km_features *from, MPI_Comm comm,
                           double *offsets, app_problem *problem) {
    size_t dim = points->dim;
    int count = points->total < SAMPLE ? (int)points->total : SAMPLE;
    float *sample = calloc(SAMPLE * dim + 1, sizeof *sample), column[SAMPLE];
    if (!sample)
        app_refuse(problem, "out of memory");
    if (!app_agree(problem, comm)) {
        free(sample);
        return false;
    }
    for (int i = 0; i < count; i++) {
        uint64_t row = points->total / (uint64_t)count * (uint64_t)i;
        if (row >= points->first && row - points->first < points->rows)
            for (size_t d = 0; d < dim; d++)
                sample[(size_t)i * dim + d] = feature_at(from, (row - points->first) * dim + d);
    }
    /* Exactly one rank has each row; all other ranks have 0 there. */
    for (int i = 0; i < count; i++)
        app_mpi(problem, MPI_Allreduce(MPI_IN_PLACE, sample + (size_t)i * dim, (int)dim, MPI_FLOAT,
                                       MPI_SUM, comm));
    for (size_t d = 0; count > 0 && d < dim; d++) {
        for (int i = 0; i < count; i++)
            column[i] = sample[(size_t)i * dim + d];
        qsort(column, (size_t)count, sizeof *column, compare_floats);
        offsets[d] = (double)column[count / 2];
    }
    free(sample);
    return app_agree(problem, comm);
}

/*
 * Measured for each column, in three arrays one after the other: its largest absolute value, the
 * largest absolute value after subtracting the offset, and whether that subtraction is inexact for
 * some value.
 */
enum { MEASURES = 3 };

/* Like fmax, but without a function call: NaN need not be handled. */
static double larger(double a, double b) {
    return a > b ? a : b;
}

/* Adds row ROW of the features to MEASURES. */
static void measure_row(const km_points *points, const km_features *from, size_t row,
                        double *measures) {
    const size_t dim = points->dim;
    const double *offsets = points->real.offsets;
    double *largest = measures, *largest_less = measures + dim, *lost = measures + 2 * dim;
    if (from->exact) {
        const double *exact = from->exact + row * dim;
        for (size_t d = 0; d < dim; d++) {
            largest[d] = larger(largest[d], fabs(exact[d]));
            largest_less[d] = larger(largest_less[d], fabs((double)(float)(exact[d] - offsets[d])));
        }
        return;
    }
    const float *feature = from->floats + row * dim;
#pragma omp simd
    for (size_t d = 0; d < dim; d++) {
        const double value = (double)feature[d], less = (double)(float)(value - offsets[d]);
        largest[d] = larger(largest[d], fabs(value));
        largest_less[d] = larger(largest_less[d], fabs(less));
        lost[d] = less + offsets[d] != value ? 1 : lost[d];
    }
}

/*
 * Measures the columns of this rank's features, using THREADS threads. The array `measures` has 3 *
 * dim numbers for each thread, one thread after the other; the result is in those of the first
 * thread.
 */
static void measure_columns(const km_points *points, const km_features *from, int threads,
                            double *measures) {
    const size_t each = MEASURES * points->dim;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int part = 0; part < threads; part++)
        for (size_t row = points->rows * (size_t)part / (size_t)threads,
                    end = points->rows * ((size_t)part + 1) / (size_t)threads;
             row < end; row++)
            measure_row(points, from, row, measures + (size_t)part * each);
    for (size_t i = each; i < (size_t)threads * each; i++)
        measures[i % each] = larger(measures[i % each], measures[i]);
}

/*
 * Sets the offsets, scale and units of REAL from MEASURES, which are the same on all ranks. The
 * offset of a column becomes 0 if subtracting it is inexact. If the features are ROUNDED anyway,
 * the offset also becomes 0 unless subtracting it at least halves the column's largest value.
 */
static void set_scales(km_real *real, const double *measures, bool rounded, size_t dim) {
    double largest = 0;
    for (size_t d = 0; d < dim; d++) {
        const double all = measures[d], less = measures[dim + d], lost = measures[2 * dim + d];
        bool none = lost > 0 || (rounded && 2 * less > all);
        if (none)
            real->offsets[d] = 0;
        real->units[d] = none ? all : less;
        largest = fmax(largest, real->units[d]);
    }
    real->scale = ldexp(1, TOP - exponent_of(largest));
    for (size_t d = 0; d < dim; d++)
        real->units[d] = ldexp(1, real->bits - exponent_of(real->units[d] * real->scale));
}

/* Returns the bits of a summand, at most 50, with which sums of weight TOTAL fit 62 bits. */
static int bits_of_summand(uint64_t total) {
    int bits = BITS - exponent_of((double)total);
    return bits < 50 ? bits : 50;
}

/* Stores row ROW of the features. */
static void store_row(const km_points *points, const km_features *from, size_t row) {
    const km_real *real = &points->real;
    const size_t dim = points->dim;
    float *to = (float *)points->data + row * dim;
    if (from->exact) {
        const double *exact = from->exact + row * dim;
#pragma omp simd
        for (size_t d = 0; d < dim; d++)
            to[d] = (float)km_real_store(real, d, exact[d]);
        return;
    }
    const float *feature = from->floats + row * dim; /* may be TO */
#pragma omp simd
    for (size_t d = 0; d < dim; d++)
        to[d] = (float)km_real_store(real, d, (double)feature[d]);
}

bool km_real_center(km_points *points, const km_features *from, int threads, MPI_Comm comm,
                    app_problem *problem) {
    const km_features own = {.floats = (const float *)points->data};
    from = from ? from : &own;
    size_t dim = points->dim;
    km_real *real = &points->real;
    const uint64_t total = km_points_weight(points);
    double *measures = calloc((size_t)threads * dim * MEASURES + 1, sizeof *measures);
    *real = (km_real){.used = true,
                      .total = total,
                      .bits = bits_of_summand(total),
                      .offsets = calloc(dim + 1, sizeof *real->offsets),
                      .units = calloc(dim + 1, sizeof *real->units)};
    double rounded = from->exact && points->rows; /* on any rank */
    if (!measures || !real->offsets || !real->units)
        app_refuse(problem, "out of memory");
    bool good = app_agree_most(problem, &rounded, 1, comm) &&
                choose_offsets(points, from, comm, real->offsets, problem);
    if (good) {
        measure_columns(points, from, threads, measures);
        app_mpi(problem, MPI_Allreduce(MPI_IN_PLACE, measures, (int)(dim * MEASURES), MPI_DOUBLE,
                                       MPI_MAX, comm));
        good = app_agree(problem, comm);
    }
    if (good) {
        set_scales(real, measures, rounded > 0, dim);
#pragma omp parallel for num_threads(threads)
        for (size_t row = 0; row < points->rows; row++)
            store_row(points, from, row);
    }
    free(measures);
    return good;
}

void km_real_set_total(km_real *real, uint64_t total, size_t dim) {
    const int bits = bits_of_summand(total);
    for (size_t d = 0; d < dim; d++)
        real->units[d] = ldexp(real->units[d], bits - real->bits);
    real->bits = bits;
    real->total = total;
}

void km_real_free(km_real *real) {
    free(real->offsets);
    free(real->units);
    *real = (km_real){.used = false};
}

float km_real_feature(const km_real *real, size_t column, float kept) {
    return (float)((double)kept / real->scale + real->offsets[column]);
}

bool km_real_scale_to_unit(float *row, size_t dim) {
    double length2 = 0;
    for (size_t d = 0; d < dim; d++)
        length2 += (double)row[d] * (double)row[d];
    for (size_t d = 0; length2 > 0 && d < dim; d++)
        row[d] = (float)((double)row[d] / sqrt(length2));
    return length2 > 0;
}

void km_real_normalise(const km_real *real, float *row, size_t dim) {
    double length2 = 0;
    for (size_t d = 0; d < dim; d++) {
        double value = (double)row[d] / real->scale + real->offsets[d];
        length2 += value * value;
    }
    /* A row of length 1, as a fit returned it, keeps its bits. */
    if (length2 == 0 || fabs(length2 - 1) < 1e-6)
        return;
    for (size_t d = 0; d < dim; d++) {
        double value = (double)row[d] / real->scale + real->offsets[d];
        row[d] = (float)km_real_store(real, d, value / sqrt(length2));
    }
}

/*
 * The loops over features are compiled twice, for any processor and for AVX2. Both do the same
 * operations in the same order, and neither fuses a multiplication with an addition, so results
 * have the same bits.
 */
#define LOOP __attribute__((always_inline)) static inline

LOOP void add_row(const km_real *real, const float *row, size_t dim, int64_t weight, int64_t *sums,
                  int64_t *rests) {
    const double shift = ldexp(1, real->bits), *units = real->units;
    /* Adding this to a number below 2^51 rounds it to an integer, in the low bits. */
    const double round = 0x1.8p52;
    int64_t none;
    memcpy(&none, &round, sizeof none);
    typedef union pattern {
        double number;
        int64_t bits;
    } pattern;
    int64_t any = 0; /* not 0: some remainder is not 0 */
#pragma omp simd reduction(| : any)
    for (size_t d = 0; d < dim; d++) {
        double value = (double)row[d] * units[d];
        pattern whole = {value + round}, rest = {value - (whole.number - round)};
        sums[d] += weight * (whole.bits - none);
        any |= rest.bits;
    }
    if (!any)
        return;
#pragma omp simd
    for (size_t d = 0; d < dim; d++) {
        double value = (double)row[d] * units[d];
        pattern rest = {(value - (value + round - round)) * shift + round};
        rests[d] += weight * (rest.bits - none);
    }
}

float km_real_mean(const km_real *real, size_t column, int64_t sum, int64_t rest, uint64_t count) {
    double all = (double)sum + ldexp((double)rest, -real->bits);
    return (float)(all / (double)count / real->units[column]);
}

uint32_t km_real_bits(double distance2) {
    float value = (float)distance2;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double km_real_value(uint32_t distance2) {
    float value;
    memcpy(&value, &distance2, sizeof value);
    return (double)value;
}

bool km_real_find_unit(const km_real *real, const uint32_t *distance2, size_t count, MPI_Comm comm,
                       double *unit, app_problem *problem) {
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = larger(most, km_real_value(distance2[i]));
    bool good = app_agree_most(problem, &most, 1, comm);
    *unit = scale_of(most * (double)real->total);
    return good;
}

uint64_t km_real_to_units(double unit, uint32_t distance2) {
    return unit > 0 ? (uint64_t)(km_real_value(distance2) * unit) : distance2;
}

void km_real_add_to_bins(uint64_t *bins, uint32_t distance2, uint64_t weight) {
    uint32_t exponent = distance2 >> MANTISSA, mantissa = distance2 & ((1U << MANTISSA) - 1);
    bins[exponent] += weight * (exponent ? mantissa | 1U << MANTISSA : mantissa);
}

uint64_t km_real_sum_bins(const uint64_t *bins) {
    double sum = 0;
    uint64_t bits;
    for (int exponent = 0; exponent < KM_REAL_BINS; exponent++)
        sum += ldexp((double)bins[exponent], (exponent ? exponent : 1) - 127 - MANTISSA);
    memcpy(&bits, &sum, sizeof bits);
    return bits;
}

LOOP double distance2(const float *a, const float *b, size_t dim) {
    enum { LANES = 4, VECTORS = 4 }; /* independent sums: additions need not wait for each other */
    typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
    typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));
    doubles sums[VECTORS] = {{0}};
    size_t i = 0;
    for (; i + LANES * VECTORS <= dim; i += LANES * VECTORS)
        for (size_t v = 0; v < VECTORS; v++) {
            floats from, to;
            memcpy(&from, a + i + v * LANES, sizeof from);
            memcpy(&to, b + i + v * LANES, sizeof to);
            doubles difference =
                __builtin_convertvector(from, doubles) - __builtin_convertvector(to, doubles);
            sums[v] += difference * difference;
        }
    doubles all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (; i < dim; i++)
        all[0] += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    return (all[0] + all[1]) + (all[2] + all[3]);
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))
AVX2 static void add_row_avx2(const km_real *real, const float *row, size_t dim, int64_t *sums,
                              int64_t *rests) {
    add_row(real, row, dim, 1, sums, rests);
}

AVX2 static double distance2_avx2(const float *a, const float *b, size_t dim) {
    return distance2(a, b, dim);
}
#endif

void km_real_add(const km_real *real, const float *row, size_t dim, uint64_t weight, int64_t *sums,
                 int64_t *rests) {
    if (weight != 1) { /* AVX2 has no products of 64 bits */
        add_row(real, row, dim, (int64_t)weight, sums, rests);
        return;
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        add_row_avx2(real, row, dim, sums, rests);
        return;
    }
#endif
    add_row(real, row, dim, 1, sums, rests);
}

double km_real_distance2(const float *a, const float *b, size_t dim) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return distance2_avx2(a, b, dim);
#endif
    return distance2(a, b, dim);
}
