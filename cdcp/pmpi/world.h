/* SPDX-License-Identifier: BSD-3-Clause */
/* The application's communicator, which stands for MPI_COMM_WORLD. */
#ifndef COLL_CDCP_PMPI_WORLD_H
#define COLL_CDCP_PMPI_WORLD_H

#include "cdcp/dcp.h"

#include <mpi.h>
#include <stdbool.h>

/*
 * Gives APP, the communicator that stands for MPI_COMM_WORLD, the name "MPI_COMM_WORLD" and a mark,
 * by which coll_world_holder recognises APP and APP's duplicates. Not collective.
 */
int coll_world_dress(MPI_Comm app);

/*
 * Returns the communicator from which to read the attribute KEYVAL that the program reads from
 * COMM: MPI_COMM_WORLD if KEYVAL is predefined and COMM is MPI_COMM_WORLD, the communicator that
 * stands for MPI_COMM_WORLD, or a duplicate of one of them (but MPI_LASTUSEDCODE is not read from
 * MPI_COMM_WORLD for duplicates); otherwise coll_dcp_comm(COMM).
 */
MPI_Comm coll_world_holder(MPI_Comm comm, int keyval);

/*
 * Registers MADE with the dedicated processors and, if libcoll runs collectives of the program,
 * sets MADE up for libcoll. MADE was created by a call that waits for the other ranks and has
 * returned CODE; after an error does nothing. Collective over MADE. Returns CODE or the error of
 * the registration or of the set-up.
 */
int coll_world_made(int code, MPI_Comm made);

/* Returns whether COMM is an intracommunicator, and not MPI_COMM_NULL. */
static inline bool coll_world_is_intra(MPI_Comm comm) {
    int inter = 1;
    return comm != MPI_COMM_NULL && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter;
}

/*
 * Returns the communicator that the program sees: MPI_COMM_WORLD if COMM stands for it, otherwise
 * COMM.
 */
static inline MPI_Comm coll_world_shown(MPI_Comm comm) {
    return comm == coll_dcp_substituted.app && comm != MPI_COMM_NULL ? coll_dcp_substituted.world
                                                                     : comm;
}

#endif
