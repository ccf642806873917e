/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/points/fixed_point.h"

#include "kmeans/points/real.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIDDLE = 0x80, BIAS = 0x8080 }; /* the lower digits of 0, alone and as one number */

/* Returns feature I, counted over all rows, in units of 2^-16. */
static int64_t feature_of(const km_planes *of, size_t i) {
    size_t plane = of->k * of->dim;
    uint32_t digits =
        (uint32_t)of->data[i] << 16 | (uint32_t)of->data[i + plane] << 8 | of->data[i + 2 * plane];
    return (int64_t)digits - BIAS;
}

static void set_feature(uint8_t *planes, size_t plane, size_t i, uint64_t value) {
    uint64_t digits = value + BIAS;
    planes[i] = (uint8_t)(digits >> 16);
    planes[i + plane] = (uint8_t)(digits >> 8);
    planes[i + 2 * plane] = (uint8_t)digits;
}

void km_planes_clear_fractions(uint8_t *planes, size_t k, size_t dim, size_t row) {
    for (size_t plane = 1; plane < KM_PLANES; plane++)
        memset(planes + (plane * k + row) * dim, MIDDLE, dim);
}

void km_planes_set_mean(uint8_t *planes, size_t plane, size_t i, uint64_t sum, uint64_t count) {
    uint64_t whole = sum / count, rest = sum % count;
    uint64_t fraction = ((rest << (KM_FRACTION_BITS + 1)) + count) / (2 * count);
    set_feature(planes, plane, i, (whole << KM_FRACTION_BITS) + fraction);
}

void km_planes_set(uint8_t *planes, size_t plane, size_t i, double value) {
    set_feature(planes, plane, i, (uint64_t)(value * (1 << KM_FRACTION_BITS) + 0.5));
}

bool km_planes_set_checked(uint8_t *planes, size_t plane, size_t i, double value, const char *path,
                           app_problem *problem) {
    if (!(value >= 0 && value <= 255))
        return app_refuse(problem, "%s: has a feature of %g; those of bytes are from 0 to 255",
                          path, value);
    km_planes_set(planes, plane, i, value);
    return true;
}

bool km_is_fixed_point(double value) {
    const double units = ldexp(value, KM_FRACTION_BITS);
    return value >= 0 && value <= 255 && units == floor(units);
}

double km_planes_feature(const km_planes *of, size_t i) {
    return ldexp((double)feature_of(of, i), -KM_FRACTION_BITS);
}

void km_planes_get(const km_planes *of, size_t row, float *features) {
    for (size_t i = 0; i < of->dim; i++)
        features[i] = (float)feature_of(of, row * of->dim + i) / (1 << KM_FRACTION_BITS);
}

uint64_t km_planes_shift2(const km_planes *a, const km_planes *b, size_t row) {
    uint64_t sum = 0;
    for (size_t i = row * a->dim; i < (row + 1) * a->dim; i++) {
        int64_t difference = feature_of(a, i) - feature_of(b, i);
        sum += (uint64_t)(difference * difference);
    }
    return sum;
}

uint64_t km_planes_distance2(const km_planes *of, size_t row, const uint8_t *point) {
    uint64_t sum = 0;
    for (size_t i = 0; i < of->dim; i++) {
        int64_t difference =
            feature_of(of, row * of->dim + i) - ((int64_t)point[i] << KM_FRACTION_BITS);
        sum += (uint64_t)(difference * difference);
    }
    return sum;
}

uint32_t km_fixed_point_bits(uint64_t distance2) {
    return km_real_bits(ldexp((double)distance2, -2 * KM_FRACTION_BITS));
}

/* Computes the norms and errors of a row. */
static void set_norms_and_errors(km_fixed_point *fixed_point, size_t row) {
    const km_planes *of = &fixed_point->planes;
    const uint8_t *h = km_plane_row(of, 0, row), *a = km_plane_row(of, 1, row),
                  *b = km_plane_row(of, 2, row);
    uint64_t middle2 = 0, all2 = 0, rest2 = 0, last2 = 0;
    for (size_t i = 0; i < of->dim; i++) {
        int64_t middle = h[i] * 256 + a[i] - MIDDLE, last = b[i] - MIDDLE;
        int64_t all = middle * 256 + last, rest = all - ((int64_t)h[i] << KM_FRACTION_BITS);
        middle2 += (uint64_t)(middle * middle);
        all2 += (uint64_t)(all * all);
        rest2 += (uint64_t)(rest * rest);
        last2 += (uint64_t)(last * last);
    }
    const double more = 1 + 1e-6; /* outweighs the rounding to float */
    fixed_point->norms[1][row] = middle2;
    fixed_point->norms[2][row] = all2;
    fixed_point->errors[0][row] = (float)(ldexp(sqrt((double)rest2), -KM_FRACTION_BITS) * more);
    fixed_point->errors[1][row] = (float)(ldexp(sqrt((double)last2), -KM_FRACTION_BITS) * more);
}

int km_fixed_point_create(const km_planes *planes, int threads, km_fixed_point **fixed_point) {
    km_fixed_point *made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    made->planes = *planes;
    for (size_t plane = 0; plane + 1 < KM_PLANES; plane++) {
        made->norms[plane + 1] = malloc(planes->k * sizeof *made->norms[0]);
        made->errors[plane] = malloc(planes->k * sizeof *made->errors[0]);
        if (!made->norms[plane + 1] || !made->errors[plane]) {
            km_fixed_point_free(made);
            return ENOMEM;
        }
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t row = 0; row < planes->k; row++)
        set_norms_and_errors(made, row);
    *fixed_point = made;
    return 0;
}

void km_fixed_point_free(km_fixed_point *fixed_point) {
    if (!fixed_point)
        return;
    for (size_t plane = 0; plane + 1 < KM_PLANES; plane++) {
        free(fixed_point->norms[plane + 1]);
        free(fixed_point->errors[plane]);
    }
    free(fixed_point);
}
