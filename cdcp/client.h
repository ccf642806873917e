/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates the requests of calls that DCPs serve (cdcp/client_calls.c). */
#ifndef COLL_CDCP_CLIENT_H
#define COLL_CDCP_CLIENT_H

#include "cdcp/client_comm.h"
#include "cdcp/job.h"
#include "cdcp/request_pool.h"

/*
 * Creates an inactive request for a call on CLIENT_COMM with CODE and COUNT (cdcp/dcp_operation.h),
 * not a persistent one. The caller then sets the data of the request's CALL. Sets *REQUEST to NULL
 * and returns MPI_ERR_NO_MEM if too many requests are in use.
 */
static inline int coll_client_request(coll_client_comm *client_comm, int32_t code, int32_t count,
                                      coll_dcp_request **request) {
    coll_job_enter();
    int error = coll_request_take(request);
    client_comm->requests += error == MPI_SUCCESS;
    coll_job_leave();
    if (error != MPI_SUCCESS)
        return error;
    (*request)->call.code = code;
    (*request)->call.count = count;
    (*request)->slot = NULL;
    (*request)->messages = NULL;
    (*request)->client_comm = client_comm;
    (*request)->series = &client_comm->series;
    (*request)->persistent = false;
    return MPI_SUCCESS;
}

/*
 * Withdraws this rank from the next call of SERIES, on CLIENT_COMM with CODE and COUNT, because of
 * ERROR: the other ranks get this error, and the ranks' later calls still match. Returns ERROR.
 */
int coll_client_withdraw(const coll_client_comm *client_comm, coll_client_series *series,
                         int32_t code, int32_t count, int error);

#endif
