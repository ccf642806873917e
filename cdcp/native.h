/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the calls of coll.h that no DCP takes with the MPI library. A DCP_Request is then the
 * address of an MPI_Request; otherwise it is a coll_dcp_request. coll_dcp_owns distinguishes them.
 */
#ifndef COLL_CDCP_NATIVE_H
#define COLL_CDCP_NATIVE_H

#include "coll.h"
#include "lib/call/args.h"

#include <mpi.h>

/*
 * Starts USER's call of OPERATION, whose sizes are the same on all ranks, with the MPI library.
 * Raises its errors on COMM. Sets *REQUEST on success.
 */
int coll_native_start(coll_operation operation, const coll_user *user, MPI_Comm comm,
                      DCP_Request *request);

/* Do DCP_Wait and DCP_Test of such requests, and of DCP_REQUEST_NULL. */
int coll_native_wait(DCP_Request *request);
int coll_native_test(DCP_Request *request, int *flag);

#endif
