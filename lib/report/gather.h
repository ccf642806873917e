/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers what the ranks have recorded to rank 0, in MPI_Finalize. A rank that doesn't answer in
 * time, because it has failed or never calls MPI_Finalize, is left out. Point-to-point messages on
 * MPI_COMM_WORLD alone.
 */
#ifndef COLL_LIB_REPORT_GATHER_H
#define COLL_LIB_REPORT_GATHER_H

#include "lib/report/summary.h"
#include "lib/topology/topo.h"

#include <mpi.h>
#include <stdbool.h>

/* What rank 0 has gathered. */
typedef struct coll_gathered {
    coll_summary summary;
    coll_topo topo; /* of all ranks, in one rack; no places if a rank is missing */
} coll_gathered;

/*
 * Sends what this rank has recorded to rank 0 of WORLD, when that asks for it. TAG is for these
 * messages alone. Gives up if rank 0 is silent for ten times TIMEOUT seconds (0: ten minutes).
 */
void coll_gather_send(MPI_Comm world, int tag, double timeout);

/*
 * On rank 0: gathers from the ranks for which EXPECTED is true, and from itself. Waits TIMEOUT
 * seconds (0: one minute) for the others. Returns false without memory. The caller frees GATHERED
 * with coll_gathered_free even then.
 */
bool coll_gather(MPI_Comm world, int tag, double timeout, const bool expected[],
                 coll_gathered *gathered);
void coll_gathered_free(coll_gathered *gathered);

#endif
