/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs calls of coll.h's DCP_ functions with the MPI library if no DCP takes them. The DCP_Request
 * is then the address of an MPI_Request; otherwise it is a coll_dcp_request. coll_dcp_owns
 * distinguishes them.
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

/* Do what DCP_Wait and DCP_Test do, for requests of the MPI library and for DCP_REQUEST_NULL. */
int coll_native_wait(DCP_Request *request);
int coll_native_test(DCP_Request *request, int *flag);

#endif
