/* Creates the requests of calls that DCPs serve (cdcp/client_calls.c). */
#ifndef COLL_CDCP_CLIENT_H
#define COLL_CDCP_CLIENT_H

#include "cdcp/job.h"
#include "cdcp/membership.h"
#include "cdcp/request_pool.h"

/*
 * Makes an inactive, not persistent request. The caller then describes its call in it. Sets
 * *REQUEST to NULL and returns MPI_ERR_NO_MEM if there are too many.
 */
static inline int coll_client_request(coll_membership *membership, coll_dcp_request **request) {
    coll_job_enter();
    int code = coll_request_take(request);
    membership->requests += code == MPI_SUCCESS;
    coll_job_leave();
    if (code != MPI_SUCCESS)
        return code;
    (*request)->slot = NULL;
    (*request)->envelope = NULL;
    (*request)->membership = membership;
    (*request)->persistent = false;
    return MPI_SUCCESS;
}

#endif
