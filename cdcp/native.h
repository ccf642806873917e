/*
 * What the MPI library does where no DCP takes a call of coll.h: a DCP_Request is then the address
 * of an MPI_Request. Others are coll_dcp_requests, which coll_dcp_owns tells.
 */
#ifndef COLL_CDCP_NATIVE_H
#define COLL_CDCP_NATIVE_H

#include "coll.h"
#include "lib/operation/collective.h"

#include <mpi.h>

/*
 * Starts USER's call of OPERATION, whose sizes are alike on all ranks, by the MPI library. Raises
 * its errors on COMM; *REQUEST is set if there are none.
 */
int coll_native_start(coll_operation operation, const coll_user *user, MPI_Comm comm,
                      DCP_Request *request);

/* DCP_Wait and DCP_Test of those, and of DCP_REQUEST_NULL. */
int coll_native_wait(DCP_Request *request);
int coll_native_test(DCP_Request *request, int *flag);

#endif
