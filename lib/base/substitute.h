/*
 * What stands for MPI_COMM_WORLD where dedicated processors have been taken from it: on application
 * ranks the communicator of these, which MPI_COMM_WORLD means to every call of libcoll.
 */
#ifndef COLL_LIB_BASE_SUBSTITUTE_H
#define COLL_LIB_BASE_SUBSTITUTE_H

#include <mpi.h>

typedef struct coll_dcp_substitute {
    MPI_Comm world, app; /* both MPI_COMM_NULL where no DCPs serve */
} coll_dcp_substitute;

extern coll_dcp_substitute coll_dcp_substituted;

static inline MPI_Comm coll_dcp_comm(MPI_Comm comm) {
    return comm == coll_dcp_substituted.world ? coll_dcp_substituted.app : comm;
}

#endif
