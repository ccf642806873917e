/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers at rank 0, in MPI_Finalize, what the ranks have recorded. A rank that doesn't answer in
 * time, because it has failed or never calls MPI_Finalize, is left out. Uses only point-to-point
 * messages on MPI_COMM_WORLD.
 */
#ifndef COLL_LIB_REPORT_GATHER_H
#define COLL_LIB_REPORT_GATHER_H

#include "lib/report/summary.h"

#include <mpi.h>
#include <stdbool.h>

/*
 * Sends what this rank has recorded to rank 0 of WORLD, when rank 0 asks for it. TAG is for these
 * messages alone. Gives up if rank 0 is silent for ten times TIMEOUT seconds (0: ten minutes).
 */
void coll_gather_send(MPI_Comm world, int tag, double timeout);

/*
 * On rank 0: gathers into SUMMARY from the ranks for which EXPECTED is true, and from itself. Waits
 * at most TIMEOUT seconds (0: one minute) for the first messages of all others, and at most as long
 * for each further message. Returns false if out of memory or after an error of MPI. The caller
 * frees SUMMARY with coll_gather_free even then.
 */
bool coll_gather(MPI_Comm world, int tag, double timeout, const bool expected[],
                 coll_summary *summary);
void coll_gather_free(coll_summary *summary);

#endif
