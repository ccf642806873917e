/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that all ranks of a job run with the same preloaded library. */
#ifndef COLL_LIB_BASE_PRELOADED_H
#define COLL_LIB_BASE_PRELOADED_H

/* Tags on MPI_COMM_WORLD, one for each preloaded library; programs seldom use such large tags. */
enum { COLL_PRELOADED_PMPI = 32713, COLL_PRELOADED_WATCH = 32717 };

/*
 * Returns once all ranks of MPI_COMM_WORLD have called it for LIBRARY, a file name, with TAG. Call
 * it after MPI_Init, before the library's own collectives, which ranks without the library don't
 * enter. If the rank before this one sends nothing for COLL_TIMEOUT seconds (default: 30; 0: no
 * limit), prints an error that names that rank, and aborts the job. Returns the error of an MPI
 * call.
 */
int coll_preloaded_barrier(const char *library, int tag);

#endif
