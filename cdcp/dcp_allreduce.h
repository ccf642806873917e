/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce by DCPs, as an algorithm in the table of allreduces (lib/api/registry.c). */
#ifndef COLL_CDCP_DCP_ALLREDUCE_H
#define COLL_CDCP_DCP_ALLREDUCE_H

#include "lib/algorithm/algorithm.h"

#include <mpi.h>

extern const coll_algorithm coll_allreduce_dcp;

/*
 * Returns the bytes of the largest allreduce with OP of TYPE on COMM that DCPs take, or 0 if they
 * take none: there are no DCPs, COMM isn't registered, or OP or TYPE isn't predefined. Local, and
 * the same on all ranks of COMM.
 */
size_t coll_dcp_most(MPI_Comm comm, MPI_Datatype type, MPI_Op op);

#endif
