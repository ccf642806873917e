/* M bytes divided into P blocks as evenly as possible, the longer ones first. Pure arithmetic. */
#ifndef COLL_LIB_PATTERN_BLOCK_H
#define COLL_LIB_PATTERN_BLOCK_H

#include <stddef.h>
#include <stdint.h>

/* Where block I begins (I == P: the end). */
size_t coll_block_start(size_t m, int p, int i);
size_t coll_block_length(size_t m, int p, int i);

/* Which of P blocks of any lengths, that begin at START[0] to START[p - 1], has byte I. */
int coll_block_with(const uint64_t start[], int p, uint64_t i);

#endif
