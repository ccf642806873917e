/*
 * What other rooms know of dedicated processors, which are above them: what stands for
 * MPI_COMM_WORLD where some have been taken from it, on application ranks the communicator of
 * these, which MPI_COMM_WORLD means to every call of libcoll; and what they serve.
 */
#ifndef COLL_LIB_BASE_SUBSTITUTE_H
#define COLL_LIB_BASE_SUBSTITUTE_H

#include <mpi.h>
#include <stddef.h>

typedef struct coll_dcp_substitute {
    MPI_Comm world, app; /* both MPI_COMM_NULL where no DCPs serve */
    /* The bytes of the largest allreduce on COMM that they take, 0: none; NULL where none serve. */
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
