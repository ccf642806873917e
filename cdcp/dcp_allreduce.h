/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce by DCPs, as an algorithm in the table of allreduces (lib/api/registry.c). */
#ifndef COLL_CDCP_DCP_ALLREDUCE_H
#define COLL_CDCP_DCP_ALLREDUCE_H

#include "lib/algorithm/algorithm.h"

#include <mpi.h>

extern const coll_algorithm coll_allreduce_dcp;

/*
 * Returns the size in bytes of the largest allreduce with OP of TYPE on COMM that DCPs take.
 * Returns 0 if they take none: there are no DCPs, they don't serve COMM, or OP on TYPE has no
 * operand code (cdcp/operands.h). Local, and the same on all ranks of COMM.
 */
size_t coll_dcp_most(MPI_Comm comm, MPI_Datatype type, MPI_Op op);

#endif
