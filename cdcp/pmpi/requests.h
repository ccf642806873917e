/* Requests of dedicated processors behind MPI_Request handles: told by their address. */
#ifndef COLL_CDCP_PMPI_REQUESTS_H
#define COLL_CDCP_PMPI_REQUESTS_H

#include "cdcp/dcp.h"

#include <mpi.h>
#include <stdbool.h>

static inline bool coll_requests_own(MPI_Request request) {
    return coll_dcp_owns((const void *)request);
}

/* Whether there is one of ours; a null pointer is the MPI library's to report. */
static inline bool coll_requests_own_at(const MPI_Request *request) {
    return request && coll_requests_own(*request);
}

static inline coll_dcp_request *coll_requests_served(MPI_Request request) {
    return (coll_dcp_request *)request;
}

/*
 * Waits for *REQUEST, which must be ours, and sets STATUS but for its error. The handle becomes
 * MPI_REQUEST_NULL unless it is persistent. Returns the operation's error, calls no handler.
 */
int coll_requests_complete(MPI_Request *request, MPI_Status *status);

#endif
