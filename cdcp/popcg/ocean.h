/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole problem on the ranks of a communicator: mask, blocks, linear system, solution. */
#ifndef COLL_POPCG_OCEAN_H
#define COLL_POPCG_OCEAN_H

#include "cdcp/popcg/solver.h"

struct ocean {
    MPI_Comm comm;
    struct mask mask;
    struct layout layout;
    struct block block; /* block of this rank */
    struct nine_point matrix;
    struct halo halo;
    double *b, *x;
    size_t cells; /* number of ocean cells of the grid */
};

/*
 * Reads the mask on rank 0 (NULL: the built-in one), changes its size to COLUMNS x ROWS cells (0:
 * unchanged), distributes it to the ranks, and sets up the system of BASIN with the wind.
 * Collective. If it returns false, all ranks have the same problem and there is nothing to close.
 * The communicator remains the caller's.
 */
bool ocean_open(struct ocean *ocean, const char *mask, size_t columns, size_t rows,
                const struct basin *basin, MPI_Comm comm, app_problem *problem);
void ocean_close(struct ocean *ocean);

/* Finds the lowest and the highest surface height of the solution, in metres. Collective. */
bool ocean_range(const struct ocean *ocean, double *lowest, double *highest, app_problem *problem);

#endif
