/* The whole problem on the ranks of a communicator: mask, blocks, system, solution. */
#ifndef COLL_POPCG_OCEAN_H
#define COLL_POPCG_OCEAN_H

#include "cdcp/popcg/solver.h"

struct ocean {
    MPI_Comm comm;
    struct mask mask;
    struct layout layout;
    struct block block; /* this rank's */
    struct nine_point matrix;
    struct halo halo;
    double *b, *x;
    size_t cells; /* of ocean, in all */
};

/*
 * Reads the mask at rank 0 (NULL: the built-in one), makes it COLUMNS x ROWS cells (0: as it is),
 * spreads it over the ranks and sets up the system of BASIN under the wind. Collective; on false
 * all ranks have the same problem and there is nothing to close. The communicator stays the
 * caller's.
 */
bool ocean_open(struct ocean *ocean, const char *mask, size_t columns, size_t rows,
                const struct basin *basin, MPI_Comm comm, app_problem *problem);
void ocean_close(struct ocean *ocean);

/* The lowest and the highest surface, in metres, of what was solved for. Collective. */
bool ocean_range(const struct ocean *ocean, double *lowest, double *highest, app_problem *problem);

#endif
