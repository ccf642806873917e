/* The application's communicator in the place of MPI_COMM_WORLD. */
#ifndef COLL_CDCP_PMPI_WORLD_H
#define COLL_CDCP_PMPI_WORLD_H

#include "cdcp/dcp.h"

#include <mpi.h>

/*
 * Gives APP, a communicator of some ranks of MPI_COMM_WORLD, what the program knows that one by:
 * its name and its attributes. Not collective.
 */
int coll_world_dress(MPI_Comm app);

/*
 * The communicator that has the predefined attribute KEYVAL which the program sees on COMM:
 * MPI_COMM_WORLD, where COMM is what stands for it or a duplicate, else COMM.
 */
MPI_Comm coll_world_holder(MPI_Comm comm, int keyval);

/* Registers MADE, which a call that waits for the other ranks has made and returned CODE. */
int coll_world_made(int code, MPI_Comm made);

/* What the program knows COMM by: MPI_COMM_WORLD for what stands for it. */
static inline MPI_Comm coll_world_shown(MPI_Comm comm) {
    return comm == coll_dcp_substituted.app && comm != MPI_COMM_NULL ? coll_dcp_substituted.world
                                                                     : comm;
}

#endif
