/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides M bytes into P blocks as evenly as possible, the longer blocks first. Pure arithmetic. */
#ifndef COLL_LIB_PATTERN_BLOCK_H
#define COLL_LIB_PATTERN_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Returns the start of block I (I == P: the end of the last one). */
static inline size_t coll_block_start(size_t m, int p, int i) {
    size_t length = m / (size_t)p, longer = m % (size_t)p, index = (size_t)i;
    return index * length + (index < longer ? index : longer);
}

static inline size_t coll_block_length(size_t m, int p, int i) {
    return m / (size_t)p + ((size_t)i < m % (size_t)p);
}

/* Returns the block that contains byte AT, which must be less than M. */
static inline int coll_block_at(size_t m, int p, size_t at) {
    size_t length = m / (size_t)p, longer = m % (size_t)p, begun = longer * (length + 1);
    return (int)(at < begun ? at / (length + 1) : longer + (at - begun) / length);
}

/*
 * Returns the block that contains byte I, of P blocks of any lengths that begin at START[0] to
 * START[P - 1].
 */
int coll_block_with(const uint64_t start[], int p, uint64_t i);

#endif
