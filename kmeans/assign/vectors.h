/*
 * Loops on float32 by the widest vectors of this processor. How they round may depend on it: they
 * are for what needn't be exact. No MPI.
 */
#ifndef COLL_KMEANS_ASSIGN_VECTORS_H
#define COLL_KMEANS_ASSIGN_VECTORS_H

#include <stddef.h>
#include <stdint.h>

/* The scalar product of A and B. */
float km_dot(const float *a, const float *b, size_t n);

/* SUM += FACTOR * ROW */
void km_add_multiple(float *sum, float factor, const float *row, size_t n);

/*
 * (numbers[i] - OFFSET) SCALE goes to the nearest in -128 ... 127, by being cut off there, and then
 * to an integer, which with 128 added is bytes[i]; SQUARES[i] grows by the square of what that
 * rounding made.
 */
void km_round_numbers(const int32_t *numbers, size_t n, int32_t offset, float scale, uint8_t *bytes,
                      float *squares);

/*
 * Of N vectors y, y[j] = NUMBERS[j * N + i] - OFFSETS[j], and LOWER, the lower triangle of a matrix
 * of SIZE rows: SQUARES[i] becomes |LOWER y|^2. N and SIZE are KM_VECTORS at most.
 */
enum { KM_VECTORS = 64 };
void km_image_squares(const float *lower, size_t size, const int32_t *numbers,
                      const int32_t *offsets, size_t n, float *squares);

#endif
