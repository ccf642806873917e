/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which cells of the grid are ocean. Columns wrap around the earth; outside the first and last row
 * is land.
 */
#ifndef COLL_POPCG_MASK_H
#define COLL_POPCG_MASK_H

#include "app/problem.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { MASK_LINE_MOST = 1 << 15 }; /* largest number of columns and of rows */

struct mask {
    size_t columns, rows;
    unsigned char *ocean; /* [row * columns + column], 1 for ocean; row 0 is the southernmost */
};

/*
 * Reads a plain PBM bitmap (P1), in which 1 is land and the first row is the northernmost; the
 * built-in one of 320 x 384 cells if PATH is NULL. The caller frees mask->ocean.
 */
bool mask_read(struct mask *mask, const char *path, app_problem *problem);

/* Changes the size to COLUMNS x ROWS: each cell gets the value at its middle. */
bool mask_resample(struct mask *mask, size_t columns, size_t rows, app_problem *problem);

/*
 * Copies rank 0's mask to all ranks of COMM. If it returns false, no rank has a mask. Collective.
 */
bool mask_share(struct mask *mask, MPI_Comm comm, app_problem *problem);

bool mask_is_ocean(const struct mask *mask, long column, long row);

size_t mask_ocean_cells(const struct mask *mask);

#endif
