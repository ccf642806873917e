/* An order of rows in which those near each other come together. No MPI. */
#ifndef COLL_KMEANS_ASSIGN_ORDER_H
#define COLL_KMEANS_ASSIGN_ORDER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Lists N rows of SIZE bytes, KM_ORDER_SIZE at most, in ORDER: they are halved across the way that
 * they vary most, and the halves again, down to LEAF rows; all but the last leaf are full. Returns
 * 0 or ENOMEM.
 */
enum { KM_ORDER_SIZE = 128 };
int km_order(const uint8_t *rows, size_t n, size_t size, size_t leaf, uint32_t *order);

#endif
