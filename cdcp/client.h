/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates the requests of calls that DCPs serve (cdcp/client_calls.c). */
#ifndef COLL_CDCP_CLIENT_H
#define COLL_CDCP_CLIENT_H

#include "cdcp/client_comm.h"
#include "cdcp/job.h"
#include "cdcp/request_pool.h"

/*
 * Creates an inactive request for a call on CLIENT_COMM, not a persistent one. The caller then sets
 * the request's CALL. Sets *REQUEST to NULL and returns MPI_ERR_NO_MEM if too many requests are in
 * use.
 */
static inline int coll_client_request(coll_client_comm *client_comm, coll_dcp_request **request) {
    coll_job_enter();
    int code = coll_request_take(request);
    client_comm->requests += code == MPI_SUCCESS;
    coll_job_leave();
    if (code != MPI_SUCCESS)
        return code;
    (*request)->slot = NULL;
    (*request)->messages = NULL;
    (*request)->client_comm = client_comm;
    (*request)->series = &client_comm->series;
    (*request)->persistent = false;
    return MPI_SUCCESS;
}

#endif
