/*
 * Which cells of the grid are ocean. Columns wrap around the earth; beyond the first and the last
 * row lies land.
 */
#ifndef COLL_POPCG_MASK_H
#define COLL_POPCG_MASK_H

#include "app/problem.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { MASK_LINE_MOST = 1 << 15 }; /* columns, and rows */

struct mask {
    size_t columns, rows;
    unsigned char *ocean; /* [row * columns + column], 1 for ocean; row 0 is the southernmost */
};

/*
 * Reads a bitmap, plain PBM (P1), whose 1s are land and whose first row is the northernmost; the
 * built-in one of 320 x 384 cells where PATH is NULL. The caller frees mask->ocean.
 */
bool mask_read(struct mask *mask, const char *path, app_problem *problem);

/* Makes it COLUMNS x ROWS: each cell becomes what lies at its middle. */
bool mask_resample(struct mask *mask, size_t columns, size_t rows, app_problem *problem);

/* Hands rank 0's mask to all ranks of COMM; on false nobody has one. Collective. */
bool mask_share(struct mask *mask, MPI_Comm comm, app_problem *problem);

bool mask_is_ocean(const struct mask *mask, long column, long row);

size_t mask_ocean_cells(const struct mask *mask);

#endif
