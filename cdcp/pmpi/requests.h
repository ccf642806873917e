/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of dedicated processors behind MPI_Request handles. Their addresses distinguish them
 * from the MPI library's requests. If a handle is an int, as in MPICH and in Fortran, it is
 * COLL_REQUESTS_FIRST plus the request's distance from the first one; the leading bits of MPICH's
 * own handles are different.
 */
#ifndef COLL_CDCP_PMPI_REQUESTS_H
#define COLL_CDCP_PMPI_REQUESTS_H

#include "cdcp/dcp.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { COLL_REQUESTS_FIRST = 0x30000000 };

static inline MPI_Fint coll_requests_number(const coll_dcp_request *request) {
    return COLL_REQUESTS_FIRST + (MPI_Fint)((uintptr_t)request - coll_dcp_arena.base);
}

static inline coll_dcp_request *coll_requests_numbered(MPI_Fint number) {
    return (coll_dcp_request *)(coll_dcp_arena.base + (uintptr_t)(uint32_t)number -
                                COLL_REQUESTS_FIRST);
}

static inline MPI_Request coll_requests_handle(coll_dcp_request *request) {
#ifdef OPEN_MPI
    return (MPI_Request)request;
#else
    return coll_requests_number(request);
#endif
}

/* Returns the request behind REQUEST, if that is ours. */
static inline coll_dcp_request *coll_requests_served(MPI_Request request) {
#ifdef OPEN_MPI
    return (coll_dcp_request *)request;
#else
    return coll_requests_numbered(request);
#endif
}

static inline bool coll_requests_own(MPI_Request request) {
    return coll_dcp_owns(coll_requests_served(request));
}

/* Returns whether there is a request and it is ours. The MPI library reports null pointers. */
static inline bool coll_requests_own_at(const MPI_Request *request) {
    return request && coll_requests_own(*request);
}

/*
 * Waits for *REQUEST, which must be ours, and sets STATUS except for its error. Sets the handle to
 * MPI_REQUEST_NULL unless it is persistent. Returns the operation's error, for *COMM's error
 * handler, which is not called.
 */
int coll_requests_complete(MPI_Request *request, MPI_Status *status, MPI_Comm *comm);

#endif
