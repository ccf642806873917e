/*
 * Small memory that is not to fail: malloc's, and where that has none, out of 64 KB that the
 * process keeps in reserve. For what one rank alone needs to know before it can take part in an
 * operation, such as the description of its datatype: were it to fail, the other ranks would wait
 * for it.
 */
#ifndef COLL_LIB_BASE_SPARE_H
#define COLL_LIB_BASE_SPARE_H

#include <stddef.h>

/* BYTES aligned for any type, to be given to coll_spare_free; NULL where the reserve is used up. */
void *coll_spare_alloc(size_t bytes);

/* The same for COUNT elements of SIZE bytes, all zero; NULL also where that overflows. */
void *coll_spare_calloc(size_t count, size_t size);

/* MEMORY cut to its first BYTES; it may have moved. */
void *coll_spare_shrink(void *memory, size_t bytes);

void coll_spare_free(void *memory);

#endif
