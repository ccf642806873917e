/*
 * What a root gathers into: a block of one datatype for every rank, of one length or of many, each
 * read and written as coll_data. The datatype is analysed once for all of them.
 */
#ifndef COLL_LIB_BASE_BLOCKS_H
#define COLL_LIB_BASE_BLOCKS_H

#include "lib/base/data.h"

#include <mpi.h>
#include <stdbool.h>

/* Where the user wants the blocks; lives as long as the coll_blocks made of it. */
typedef struct coll_blocks_layout {
    void *buffer;
    MPI_Count count; /* elements a rank, one block after the other, or where that differs: */
    const MPI_Count *counts; /* elements of each rank */
    const MPI_Aint *places;  /* of each block, in extents of the datatype */
    MPI_Datatype type;
} coll_blocks_layout;

typedef struct coll_blocks {
    coll_blocks_layout layout;
    int ranks;
    MPI_Count size;    /* bytes of data in an element */
    MPI_Aint extent;   /* from one element to the next */
    coll_data longest; /* the longest block, if it lay at the start of the buffer */
} coll_blocks;

/* Describes the blocks of RANKS ranks. Errors: those of coll_data_open. */
int coll_blocks_open(coll_blocks *blocks, const coll_blocks_layout *layout, int ranks);
void coll_blocks_close(coll_blocks *blocks);

/* The bytes of RANK's block, and of the longest one. */
size_t coll_blocks_bytes(const coll_blocks *blocks, int rank);
size_t coll_blocks_longest(const coll_blocks *blocks);

/* Whether all blocks are as long by the call's own word. */
bool coll_blocks_even(const coll_blocks *blocks);

/* The block of RANK; it borrows from BLOCKS and is not to be closed. */
coll_data coll_blocks_at(const coll_blocks *blocks, int rank);

/* True when all blocks are one run of bytes in the order of the ranks. */
bool coll_blocks_in_a_row(const coll_blocks *blocks);

#endif
