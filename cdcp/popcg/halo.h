/*
 * The exchange of a field's border with the up to eight blocks around, by nonblocking
 * point-to-point messages. Blocks that were dropped, and what lies beyond the grid, keep the
 * border's zeros.
 */
#ifndef COLL_POPCG_HALO_H
#define COLL_POPCG_HALO_H

#include "cdcp/popcg/field.h"
#include "cdcp/popcg/layout.h"

#include <mpi.h>

enum { HALO_SIDES = 8 };

/* What one side sends and receives: TYPE, from and to these places in the field. */
struct halo_side {
    int rank; /* the neighbour, -1 for none */
    size_t send_at, receive_at;
    MPI_Datatype type;
};

struct halo {
    MPI_Comm comm;
    struct halo_side sides[HALO_SIDES];
    MPI_Datatype row, column; /* of the block */
    double seconds;           /* spent in exchanges so far */
};

/* Collective only in that all ranks need one. The communicator stays the caller's. */
bool halo_open(struct halo *halo, const struct layout *layout, MPI_Comm comm, app_problem *problem);
void halo_close(struct halo *halo);

/* Brings the border of FIELD up to date. */
bool halo_exchange(struct halo *halo, double *field, app_problem *problem);

#endif
