/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small helpers: the largest dimension, rounding up, minimum and maximum, aligned memory for
 * vectors, growing arrays.
 */
#ifndef COLL_KMEANS_POINTS_MEMORY_H
#define COLL_KMEANS_POINTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * The most dimensions of a point. With more, 32 bits could not hold every score (see
 * assign/kernel.h) and every squared distance.
 */
enum { KM_MAX_DIM = 65793 };

static inline size_t km_quotient_up(size_t a, size_t b) {
    return a / b + (a % b != 0);
}

static inline size_t km_smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static inline size_t km_larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Allocates COUNT * BYTES of memory, 64-byte aligned. Returns NULL if there is not that much. */
static inline void *km_allocate(size_t count, size_t bytes) {
    enum { ALIGNMENT = 64 };
    if (count > (SIZE_MAX - ALIGNMENT) / bytes)
        return NULL;
    return aligned_alloc(ALIGNMENT, km_quotient_up(count * bytes, ALIGNMENT) * ALIGNMENT);
}

/*
 * Makes room for one more element in *ARRAY, a pointer to COUNT elements of BYTES each; *ROOM is
 * the number of elements allocated. Returns false if memory is short.
 */
static inline bool km_grow(void *array, size_t count, size_t *room, size_t bytes) {
    void *elements;
    size_t larger = 2 * *room + 16;
    if (count < *room)
        return true;
    memcpy(&elements, array, sizeof elements);
    elements = realloc(elements, larger * bytes);
    if (!elements)
        return false;
    memcpy(array, &elements, sizeof elements);
    *room = larger;
    return true;
}

#endif
