/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory layout of an MPI datatype, and copying any byte range of (buffer, count, type) to and
 * from contiguous memory. MPI_Pack can only pack whole elements, and one element may have
 * gigabytes; this packs any range with constant extra memory. No communication.
 */
#ifndef COLL_LIB_BASE_TYPEMAP_H
#define COLL_LIB_BASE_TYPEMAP_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct coll_typemap coll_typemap;

/*
 * Describes TYPE, which need not be committed; the caller frees the map. The map does not refer to
 * TYPE afterwards. The map's memory is proportional to the type's description (constructors and
 * index lists), not to the size of an element. Errors: MPI_ERR_TYPE (also for elements of 2^63
 * bytes or more), MPI_ERR_NO_MEM, and MPI's. *MAP is set only on success.
 */
int coll_typemap_create(MPI_Datatype type, coll_typemap **map);
void coll_typemap_free(coll_typemap **map);

/* Returns the data bytes of one element, as MPI_Type_size_x does. */
MPI_Count coll_typemap_size(const coll_typemap *map);

/*
 * Returns whether COUNT elements are one run of bytes in type-map order. *OFFSET is then the
 * distance in bytes from the buffer to the first byte (a type's true lower bound need not be 0); it
 * is 0 if there are no bytes.
 */
bool coll_typemap_contiguous(const coll_typemap *map, MPI_Count count, MPI_Aint *offset);

/*
 * Copy data bytes [FROM, FROM + LENGTH) of COUNT elements at BUFFER, counted in type-map order, to
 * or from the contiguous bytes at PACKED, which must not overlap the elements. The range must lie
 * within count * size. BUFFER may be MPI_BOTTOM if the type holds absolute addresses. Packing
 * consecutive ranges gives the same bytes as MPI_Pack of the whole. Finding FROM costs O(depth x
 * log(list length)).
 */
void coll_typemap_pack(const coll_typemap *map, const void *buffer, MPI_Count count, size_t from,
                       size_t length, void *packed);
void coll_typemap_unpack(const coll_typemap *map, void *buffer, MPI_Count count, size_t from,
                         size_t length, const void *packed);

#endif
