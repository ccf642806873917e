/* What DCPs serve, as an algorithm in the table of allreduces: lib/registry.c. */
#ifndef COLL_CDCP_DCP_ALLREDUCE_H
#define COLL_CDCP_DCP_ALLREDUCE_H

#include "lib/algorithm/algorithm.h"

#include <mpi.h>

extern const coll_algorithm coll_allreduce_dcp;

/*
 * The bytes of the largest allreduce by OP of TYPE on COMM that DCPs take; 0: they take none, for
 * want of DCPs, or as COMM isn't registered. Local, and the same on all its ranks.
 */
size_t coll_dcp_most(MPI_Comm comm, MPI_Datatype type, MPI_Op op);

#endif
