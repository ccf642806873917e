/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders rows so that rows near each other come together. No MPI. */
#ifndef COLL_KMEANS_ASSIGN_ORDER_H
#define COLL_KMEANS_ASSIGN_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Writes the numbers of N rows of SIZE bytes, KM_ORDER_SIZE at most, to ORDER. The rows are split
 * into halves along the direction in which they vary most, and the halves are split again, down to
 * leaves of LEAF rows; all leaves but the last are full. Returns 0 or ENOMEM.
 */
enum { KM_ORDER_SIZE = 128 };
int km_order(const uint8_t *rows, size_t n, size_t size, size_t leaf, uint32_t *order);

#endif
