/* SPDX-License-Identifier: BSD-3-Clause */
/* Detects programs for which libcoll_pmpi was preloaded but whose MPI calls don't reach it. */
#ifndef COLL_CDCP_PMPI_BYPASS_H
#define COLL_CDCP_PMPI_BYPASS_H

/*
 * Notes that the program's MPI_Init has reached libcoll_pmpi. If this function was not called in a
 * process that has initialised MPI, one rank of the job prints a message at its exit.
 */
void coll_bypass_ruled_out(void);

#endif
