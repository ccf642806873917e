/* Sizes of points, the longest, arithmetic; memory that vectors may be loaded from, or that grows.
 */
#ifndef COLL_KMEANS_POINTS_MEMORY_H
#define COLL_KMEANS_POINTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * The most dimensions of a point: with more, 32 bits could not hold every score (assign/kernel.h
 * says what a score is). Every squared distance fits in 32 bits then, too.
 */
enum { KM_MAX_DIM = 65793 };

static inline size_t km_quotient_up(size_t a, size_t b) {
    return a / b + (a % b != 0);
}

/* COUNT * BYTES of memory, 64-byte aligned; NULL when there is not that much. */
static inline void *km_allocate(size_t count, size_t bytes) {
    enum { ALIGNMENT = 64 };
    if (count > (SIZE_MAX - ALIGNMENT) / bytes)
        return NULL;
    return aligned_alloc(ALIGNMENT, km_quotient_up(count * bytes, ALIGNMENT) * ALIGNMENT);
}

/*
 * Makes room for one more in *ARRAY, a pointer to COUNT things of BYTES each, with *ROOM for as
 * many in all. False without memory.
 */
static inline bool km_grow(void *array, size_t count, size_t *room, size_t bytes) {
    void *things;
    size_t larger = 2 * *room + 16;
    if (count < *room)
        return true;
    memcpy(&things, array, sizeof things);
    things = realloc(things, larger * bytes);
    if (!things)
        return false;
    memcpy(array, &things, sizeof things);
    *room = larger;
    return true;
}

#endif
