/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive buffer of a gather's root: one block for each rank, all of one datatype, with equal
 * or individual counts. Each block is read and written as coll_data. The datatype is analysed only
 * once.
 */
#ifndef COLL_LIB_BASE_BLOCKS_H
#define COLL_LIB_BASE_BLOCKS_H

#include "lib/base/data.h"

#include <mpi.h>
#include <stdbool.h>

/* The user's description of the blocks; must outlive the coll_blocks made from it. */
typedef struct coll_blocks_layout {
    void *buffer;
    /* elements of each rank's block, the blocks being contiguous; unused if COUNTS is set */
    MPI_Count count;
    const MPI_Count *counts; /* elements of each rank's block; NULL if all have COUNT */
    /* displacement of each block, in extents of the datatype; used if COUNTS is set */
    const MPI_Aint *places;
    MPI_Datatype type;
} coll_blocks_layout;

typedef struct coll_blocks {
    coll_blocks_layout layout;
    int ranks;
    MPI_Count size;    /* bytes of data in an element */
    MPI_Aint extent;   /* from one element to the next */
    coll_data longest; /* the longest block, as if it began at the start of the buffer */
} coll_blocks;

/* Describes the blocks of RANKS ranks. Errors: those of coll_data_open. */
int coll_blocks_open(coll_blocks *blocks, const coll_blocks_layout *layout, int ranks);
void coll_blocks_close(coll_blocks *blocks);

/* Return the bytes of RANK's block, and of the longest block. */
size_t coll_blocks_bytes(const coll_blocks *blocks, int rank);
size_t coll_blocks_longest(const coll_blocks *blocks);

/* Returns whether the call gave one count for all ranks. */
bool coll_blocks_even(const coll_blocks *blocks);

/* Returns the block of RANK. It borrows from BLOCKS; do not close it. */
coll_data coll_blocks_at(const coll_blocks *blocks, int rank);

/* Returns whether the blocks together are one contiguous run of bytes in rank order. */
bool coll_blocks_in_a_row(const coll_blocks *blocks);

#endif
