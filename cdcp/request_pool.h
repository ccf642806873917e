/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests of an application rank, all in one range of addresses. If several threads may post,
 * callers hold the job's lock.
 */
#ifndef COLL_CDCP_REQUEST_POOL_H
#define COLL_CDCP_REQUEST_POOL_H

#include "cdcp/client_comm.h"
#include "cdcp/dcp.h"
#include "cdcp/mailbox.h"
#include "lib/base/data.h"

/* The messages of a contribution and its result. */
typedef struct coll_message_pair coll_message_pair;

/* The call (cdcp/dcp_operation.h), this rank's contribution, and where its result goes. */
typedef struct coll_client_call {
    int32_t code, count;
    coll_data given, wanted;
} coll_client_call;

struct DCP_Pending {
    int room[COLL_DCP_ROOM]; /* for the holder's use */
    /*
     * Where the result arrives: a slot, whose state then becomes DONE or FAILED, or a message. If
     * both are NULL, the request is inactive.
     */
    coll_mailbox_slot *slot;
    coll_message_pair *messages;
    coll_client_call call;
    coll_client_comm *client_comm;
    coll_client_series *series; /* that of CLIENT_COMM, or OWN if the request is persistent */
    coll_client_series own;
    bool persistent;
    coll_dcp_request *next; /* next unused request */
};

/*
 * Reserves BYTES of addresses, and sets *RANGE to them. Memory is used only for pages that are
 * written. Returns the first address, or NULL if the addresses can't be reserved.
 */
void *coll_request_reserve(size_t bytes, coll_dcp_range *range);

/*
 * Prepares the pool for a job with at most MOST requests at a time. No request of an earlier job
 * may be in use. Returns MPI_SUCCESS or MPI_ERR_NO_MEM.
 */
int coll_request_open(int most);

/*
 * Sets *REQUEST to an unused request. If too many are in use, sets it to NULL and returns
 * MPI_ERR_NO_MEM.
 */
int coll_request_take(coll_dcp_request **request);
void coll_request_give_back(coll_dcp_request *request);

/* Returns the number of REQUEST in the range, from 0. */
int coll_request_number(const coll_dcp_request *request);

#endif
