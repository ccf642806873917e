/* How the calls that DCPs serve (cdcp/client_calls.c) are handed over. */
#ifndef COLL_CDCP_CLIENT_H
#define COLL_CDCP_CLIENT_H

#include "cdcp/request_pool.h"

/* Frees what CALL holds. */
void coll_client_drop(coll_client_call *call);

/* Makes an inactive persistent request for CALL, whose data it takes in any case. */
int coll_client_prepare(coll_membership *membership, coll_client_call *call,
                        coll_dcp_request **request);

/* Posts CALL; the same. */
int coll_client_post(coll_membership *membership, coll_client_call *call,
                     coll_dcp_request **request);

#endif
