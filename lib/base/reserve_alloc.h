/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small allocations that should not fail: from malloc or, if that fails, from a static reserve of
 * 64 KB. For memory that one rank alone needs before it can take part in an operation, such as the
 * description of its datatype: if the allocation failed, the other ranks would wait for this one.
 */
#ifndef COLL_LIB_BASE_RESERVE_ALLOC_H
#define COLL_LIB_BASE_RESERVE_ALLOC_H

#include <stddef.h>

/*
 * Returns BYTES aligned for any type, to be freed with coll_reserve_free; NULL if malloc fails and
 * the reserve has too little left.
 */
void *coll_reserve_alloc(size_t bytes);

/* Allocates COUNT zeroed elements of SIZE bytes; NULL also if the product overflows. */
void *coll_reserve_calloc(size_t count, size_t size);

/* Shrinks MEMORY to its first BYTES and returns it; its address may change. */
void *coll_reserve_shrink(void *memory, size_t bytes);

void coll_reserve_free(void *memory);

#endif
