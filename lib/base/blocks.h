/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A buffer of one block for each rank or neighbour, such as the receive buffer of a gather's root.
 * The blocks have equal or individual counts, and one datatype or a datatype for each block. Each
 * block is read and written as coll_data. If all blocks have one datatype, it is analysed only
 * once.
 */
#ifndef COLL_LIB_BASE_BLOCKS_H
#define COLL_LIB_BASE_BLOCKS_H

#include "lib/base/data.h"

#include <mpi.h>
#include <stdbool.h>

/* The user's description of the blocks. Its arrays must outlive the coll_blocks made from it. */
typedef struct coll_blocks_layout {
    void *buffer;
    /* elements of each rank's block, the blocks being contiguous; unused if COUNTS is set */
    MPI_Count count;
    const MPI_Count *counts; /* elements of each rank's block; NULL if all have COUNT */
    /* displacement of each block, in extents of TYPE, or in bytes if TYPES is set; used if COUNTS
     * is set */
    const MPI_Aint *places;
    MPI_Datatype type;
    /* datatype of each block, with COUNTS; MPI_DATATYPE_NULL is valid for a block of no elements.
     * NULL if all blocks have TYPE */
    const MPI_Datatype *types;
} coll_blocks_layout;

typedef struct coll_blocks {
    coll_blocks_layout layout;
    int ranks;
    coll_data *each;    /* the blocks if each has its own datatype, else NULL */
    size_t empty_below; /* blocks of fewer bytes count as empty; 0: no such limit */

    /* If all blocks have one datatype: */
    MPI_Count size;    /* bytes of data in an element */
    MPI_Aint extent;   /* bytes from one element to the next */
    coll_data longest; /* the longest block, as if it began at the start of the buffer */
} coll_blocks;

/* Describes RANKS blocks. Errors: those of coll_data_open. */
int coll_blocks_open(coll_blocks *blocks, const coll_blocks_layout *layout, int ranks);
void coll_blocks_close(coll_blocks *blocks);

/* Changes BLOCKS to describe the same blocks OFFSET bytes further on in memory. */
void coll_blocks_move(coll_blocks *blocks, MPI_Aint offset);

/* Return the size in bytes of RANK's block, of the longest block, and of all blocks together. */
size_t coll_blocks_bytes(const coll_blocks *blocks, int rank);
size_t coll_blocks_longest(const coll_blocks *blocks);
size_t coll_blocks_sum(const coll_blocks *blocks);

/* Returns whether the call gave one count for all ranks. */
static inline bool coll_blocks_even(const coll_blocks *blocks) {
    return !blocks->layout.counts;
}

/* Returns the block of RANK. The result borrows from BLOCKS; do not close it. */
coll_data coll_blocks_at(const coll_blocks *blocks, int rank);

/*
 * Returns whether all blocks have one count and together are one contiguous run of bytes in rank
 * order.
 */
bool coll_blocks_in_a_row(const coll_blocks *blocks);

#endif
