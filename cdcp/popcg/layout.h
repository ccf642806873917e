/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The division of the grid into blocks, one for each rank. Blocks without ocean are dropped; the
 * other blocks are assigned to the ranks row by row. Ranks beyond the last block have no block.
 * Pure: no MPI.
 */
#ifndef COLL_POPCG_LAYOUT_H
#define COLL_POPCG_LAYOUT_H

#include "cdcp/popcg/mask.h"

/* The number of blocks along each side of the grid. */
struct cut {
    int columns, rows;
};

/*
 * Sets *CUT to the cut with the least cost of the largest block and its border, among the cuts that
 * have at most RANKS blocks with ocean. The mask must have some ocean.
 */
bool layout_cut(const struct mask *mask, int ranks, struct cut *cut, app_problem *problem);

struct layout {
    struct cut cut;
    size_t columns, rows; /* of the grid */
    int blocks;           /* blocks with ocean: ranks 0 to blocks - 1 have one each */
    int *owner;           /* [row * cut.columns + column]: a rank, or -1 for a dropped block */
};

/* Assigns the blocks of CUT to ranks. The caller frees layout->owner. */
bool layout_make(struct layout *layout, const struct mask *mask, struct cut cut,
                 app_problem *problem);

/* A part of the grid. A rank without a block gets one of width and height 0. */
struct block {
    int column, row; /* position in the cut */
    size_t first_column, first_row;
    size_t width, height;
};
struct block layout_block(const struct layout *layout, int rank);

/* Returns the rank that owns the block at COLUMN and ROW of the cut, or -1. Columns wrap around the
 * earth. */
int layout_owner(const struct layout *layout, int column, int row);

#endif
