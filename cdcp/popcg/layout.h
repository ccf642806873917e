/*
 * The grid cut into blocks, one for a rank: blocks without ocean are dropped, the others go to the
 * ranks row by row. Ranks beyond the last block have none. Pure: no MPI.
 */
#ifndef COLL_POPCG_LAYOUT_H
#define COLL_POPCG_LAYOUT_H

#include "cdcp/popcg/mask.h"

/* How many blocks the grid is cut into along each side. */
struct cut {
    int columns, rows;
};

/*
 * The cut whose largest block and its border are least among those that leave at most RANKS blocks
 * with ocean. The mask must have some.
 */
bool layout_cut(const struct mask *mask, int ranks, struct cut *cut, app_problem *problem);

struct layout {
    struct cut cut;
    size_t columns, rows; /* of the grid */
    int blocks;           /* with ocean: ranks 0 to blocks - 1 have one each */
    int *owner;           /* [row * cut.columns + column]: a rank, or -1 for a dropped block */
};

/* The caller frees layout->owner. */
bool layout_make(struct layout *layout, const struct mask *mask, struct cut cut,
                 app_problem *problem);

/* A part of the grid. A rank without a block has one of no width and no height. */
struct block {
    int column, row; /* in the cut */
    size_t first_column, first_row;
    size_t width, height;
};
struct block layout_block(const struct layout *layout, int rank);

/* The rank that owns a block of the cut, which wraps around the earth; -1 for none. */
int layout_owner(const struct layout *layout, int column, int row);

#endif
