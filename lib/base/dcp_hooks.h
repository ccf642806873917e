/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface through which the rest of the library sees dedicated collective processors (DCPs),
 * which are a layer above. If a job has DCPs, every call of libcoll on MPI_COMM_WORLD uses a
 * substitute: on application ranks the communicator of the application ranks.
 */
#ifndef COLL_LIB_BASE_DCP_HOOKS_H
#define COLL_LIB_BASE_DCP_HOOKS_H

#include <mpi.h>
#include <stddef.h>

typedef struct coll_dcp_substitute {
    /* MPI_COMM_WORLD and its substitute; both MPI_COMM_NULL if there are no DCPs */
    MPI_Comm world, app;
    /*
     * Returns the size in bytes of the largest allreduce on COMM that the DCPs serve, 0 if the DCPs
     * serve none. The pointer is NULL if there are no DCPs.
     */
    size_t (*served)(MPI_Comm comm, MPI_Datatype type, MPI_Op op);
} coll_dcp_substitute;

extern coll_dcp_substitute coll_dcp_substituted;

static inline MPI_Comm coll_dcp_comm(MPI_Comm comm) {
    return comm == coll_dcp_substituted.world ? coll_dcp_substituted.app : comm;
}

static inline size_t coll_dcp_served(MPI_Comm comm, MPI_Datatype type, MPI_Op op) {
    return coll_dcp_substituted.served ? coll_dcp_substituted.served(comm, type, op) : 0;
}

#endif
