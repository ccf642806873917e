/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange of a field's border with the up to eight blocks around it, by nonblocking
 * point-to-point messages. Next to dropped blocks and outside the grid, the border stays zero.
 */
#ifndef COLL_POPCG_HALO_H
#define COLL_POPCG_HALO_H

#include "cdcp/popcg/field.h"
#include "cdcp/popcg/layout.h"

#include <mpi.h>

enum { HALO_SIDES = 8 };

/*
 * The messages on one side: one element of TYPE is sent from index SEND_AT of the field, and one is
 * received at index RECEIVE_AT.
 */
struct halo_side {
    int rank; /* rank of the neighbour, or -1 */
    size_t send_at, receive_at;
    MPI_Datatype type;
};

struct halo {
    MPI_Comm comm;
    struct halo_side sides[HALO_SIDES];
    MPI_Datatype row, column; /* a row and a column of the block's cells in a field */
    double seconds;           /* time spent in exchanges so far */
};

/* Prepares the exchange. Local, but all ranks must do it. The communicator remains the caller's. */
bool halo_open(struct halo *halo, const struct layout *layout, MPI_Comm comm, app_problem *problem);
void halo_close(struct halo *halo);

/* Updates the border of FIELD. */
bool halo_exchange(struct halo *halo, double *field, app_problem *problem);

#endif
