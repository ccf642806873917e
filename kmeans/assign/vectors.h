/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loops on float32 that use the widest vectors of this processor. Their rounding may depend on the
 * processor, so they are only for results that needn't be exact. No MPI.
 */
#ifndef COLL_KMEANS_ASSIGN_VECTORS_H
#define COLL_KMEANS_ASSIGN_VECTORS_H

#include <stddef.h>
#include <stdint.h>

/* Returns the scalar product of A and B. */
float km_dot(const float *a, const float *b, size_t n);

/* Adds FACTOR * ROW to SUM. */
void km_add_multiple(float *sum, float factor, const float *row, size_t n);

/*
 * Quantises: (numbers[i] - OFFSET) SCALE is clamped to -128 ... 127 and rounded to an integer. Sets
 * bytes[i] to the rounded integer plus 128 and adds the square of the rounding error to SQUARES[i].
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

#endif
