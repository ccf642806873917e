/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends the job such that its launcher prints why and returns a status other than 0. */
#ifndef COLL_LIB_BASE_ABORT_H
#define COLL_LIB_BASE_ABORT_H

#include <mpi.h>

/*
 * Ends the job with status 1. Waits first until the launcher has read this process's stderr:
 * MPICH's loses what it has not read by then.
 */
_Noreturn void coll_abort(void);

/*
 * Invokes the error handler of COMM with CODE. MPICH's MPI_ERRORS_ARE_FATAL may end a process
 * without telling the launcher, which returns 0 if all ranks of a host do so at the same time; in
 * its place this prints the error and calls coll_abort.
 */
void coll_abort_by_handler(MPI_Comm comm, int code);

#endif
