/*
 * What the MPI library does where no DCP takes a call of coll.h: a DCP_Request is then the address
 * of an MPI_Request. Others are coll_dcp_requests, which coll_dcp_owns tells.
 */
#ifndef COLL_CDCP_NATIVE_H
#define COLL_CDCP_NATIVE_H

#include "coll.h"

#include <mpi.h>

/* Makes the request that the MPI library's call for NAME, of COUNT elements, is to begin. Raises
 * its errors on COMM. */
int coll_native_make(const char *name, MPI_Count count, MPI_Comm comm, MPI_Request **native);

/* The MPI library has begun NATIVE with CODE, which comes back; *REQUEST is set if it is no error.
 */
int coll_native_begun(int code, MPI_Request *native, DCP_Request *request);

/* DCP_Wait and DCP_Test of those, and of DCP_REQUEST_NULL. */
int coll_native_wait(DCP_Request *request);
int coll_native_test(DCP_Request *request, int *flag);

#endif
