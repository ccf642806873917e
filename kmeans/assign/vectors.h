/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops on float32 that use the widest vectors of this processor. Their rounding may depend on the
 * processor, so they are only for results that needn't be exact. No MPI.
 */
#ifndef COLL_KMEANS_ASSIGN_VECTORS_H
#define COLL_KMEANS_ASSIGN_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the scalar product of A and B. */
float km_dot(const float *a, const float *b, size_t n);

/* Adds FACTOR * ROW to SUM. */
void km_add_multiple(float *sum, float factor, const float *row, size_t n);

/*
 * Quantises N numbers: (numbers[i] - OFFSET) * SCALE is clamped to -128 ... 127 and rounded to an
 * integer. Sets bytes[i] to the rounded integer plus 128 and adds the square of the rounding error
 * to SQUARES[i].
 */
void km_round_numbers(const int32_t *numbers, size_t n, int32_t offset, float scale, uint8_t *bytes,
                      float *squares);

/*
 * Multiplies N vectors by LOWER, a lower triangular matrix of SIZE rows: vector i is y with y[j] =
 * NUMBERS[j * N + i] - OFFSETS[j], and SQUARES[i] becomes |LOWER y|^2. N and SIZE are KM_VECTORS at
 * most.
 */
enum { KM_VECTORS = 64 };
void km_image_squares(const float *lower, size_t size, const int32_t *numbers,
                      const int32_t *offsets, size_t n, float *squares);

/* Returns the largest |row[i] - mean[i]|; infinity if that overflows. */
float km_largest_deviation(const float *row, const float *mean, size_t n);

/* Sums over the N features of a row that was quantised. */
typedef struct km_quantum {
    float deviations2; /* squares of row - mean */
    float codes2;      /* squares of the codes */
    float rests2;      /* squares of row - mean - scale * code */
    int32_t codes;     /* the codes */
} km_quantum;

/*
 * Quantises a row: code i is (row[i] - mean[i]) / SCALE, rounded to an integer. Writes the codes,
 * plus OFFSET, to BYTES. The codes must be between -OFFSET and 255 - OFFSET.
 */
km_quantum km_quantise(const float *row, const float *mean, size_t n, float scale, int offset,
                       uint8_t *bytes);

/*
 * Returns |a - b|^2, with an error of at most (N + 2) 2^-24 |a - b|^2 + N 2^-149; or infinity if
 * the sum overflows.
 */
float km_near_distance2(const float *a, const float *b, size_t n);

/*
 * Sets BOUNDS[i], for each of N points, to the sum of DRIFT and a lower bound of the point's
 * distances from some centroids, in the stored form of group_bounds.h. LOWS[i] is a lower bound of
 * h times the scores of these centroids (quantised.h), SQUARES[i] the |y|^2 and HALVES[i] the h of
 * the point. ERROR must be at least the relative error of SQUARES and at least 2^-20.
 */
void km_distance_bounds(const float *lows, const float *squares, const float *halves, size_t n,
                        float error, float drift, uint16_t *bounds);

/*
 * A panel of POINTS quantised points and some panels of quantised centroids (quantised.h): COUNT
 * centroids, STEP in each panel.
 */
typedef struct km_screen {
    size_t points, count, step;                    /* POINTS is a multiple of 8, on ARM of 4 */
    const float *halves, *code_norms, *code_rests; /* for each point: h, |q| and |r| / s */
    const float *slacks; /* for each point: the amount by which B is raised */
    float *bounds;       /* for each point: B */
    const float *squares, *scales, *norms, *rests; /* for each centroid: |e|^2, t, |e| and |f| */
    const int32_t *bases;                          /* for each centroid: its sum of codes, times the
                                                      offset of the points' codes */
    const float *panel_norms, *panel_rests;        /* for each panel: the largest norm and rest */
    size_t first;                                  /* the position of the first centroid */
    const uint32_t *ends;   /* for each centroid: the end of its segment, which has the centroids of
                               one group in one panel */
    const uint32_t *groups; /* for each centroid: its group */
    float *lows; /* for group g and point i at g * POINTS + i: a lower bound of h times the scores
                    so far of the group's centroids; or NULL */
} km_screen;

/* A point and a centroid whose score may be the point's least, by their numbers in a km_screen. */
typedef struct km_estimate {
    uint32_t point, centroid;
    float score, low; /* z, and a lower bound of h times the score (quantised.h) */
} km_estimate;

/*
 * Estimates all scores from the PRODUCTS of codes, panel after panel, and lowers the bounds of the
 * points, and the lows unless they are NULL. Lists the pairs whose centroid may be nearest to the
 * point and returns their number. PAIRS has room for all pairs.
 */
size_t km_screen_panels(const km_screen *screen, const int32_t *products, km_estimate *pairs);

#endif
