/*
 * Requests of application ranks, all in one range of addresses. Where several threads post, callers
 * hold the job's lock.
 */
#ifndef COLL_CDCP_REQUEST_POOL_H
#define COLL_CDCP_REQUEST_POOL_H

#include "cdcp/dcp.h"
#include "cdcp/mailbox.h"
#include "cdcp/membership.h"
#include "lib/base/data.h"

/* A contribution and its result as messages. */
typedef struct coll_envelope coll_envelope;

/* What is called (cdcp/dcp_operation.h), what this rank contributes, where its result goes. */
typedef struct coll_client_call {
    int32_t code, count;
    coll_data given, wanted;
} coll_client_call;

struct DCP_Pending {
    int room[COLL_DCP_ROOM]; /* its holder's */
    /* Where the result comes: a slot, whose state is then DONE or FAILED, or an envelope. Neither:
     * it is inactive. */
    coll_mailbox_slot *slot;
    coll_envelope *envelope;
    coll_client_call call;
    coll_membership *membership;
    bool persistent;
    coll_dcp_request *next; /* of those that nobody uses */
};

/*
 * Makes room for the requests of a job, at most MOST at once; none of an earlier one is in use.
 * MPI_ERR_NO_MEM.
 */
int coll_request_open(int most);

/* Sets *REQUEST to an unused one, or to NULL where there are too many: MPI_ERR_NO_MEM. */
int coll_request_take(coll_dcp_request **request);
void coll_request_give_back(coll_dcp_request *request);

/* The number of REQUEST in the range, from 0. */
int coll_request_number(const coll_dcp_request *request);

#endif
