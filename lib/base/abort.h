/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends the job so that its launcher prints why and returns a status other than 0. */
#ifndef COLL_LIB_BASE_ABORT_H
#define COLL_LIB_BASE_ABORT_H

#include <mpi.h>

/*
 * Ends the job with status 1. If stderr is a pipe, first waits, at most a second, until the
 * launcher has read it: MPICH's launcher loses output that it has not read when the job ends.
 */
_Noreturn void coll_abort(void);

/*
 * Invokes the error handler of COMM with CODE. MPICH's MPI_ERRORS_ARE_FATAL may end a process
 * without telling the launcher; if all ranks of a host end in this way at the same time, the
 * launcher returns 0. So in place of this handler of MPICH, the function prints the error and calls
 * coll_abort.
 */
void coll_abort_by_handler(MPI_Comm comm, int code);

#endif
