/* What the public entries of operations that are started share. */
#ifndef COLL_LIB_REQUEST_H
#define COLL_LIB_REQUEST_H

#include "lib/operation/pending.h"

/*
 * Whether an operation on COMM is libcoll's: *OWN is its state. NULL where it is the MPI library's:
 * on a communicator that is not set up, between two, and where the user asks for native. All ranks
 * find the same.
 */
int coll_request_find_comm(MPI_Comm comm, coll_operation operation, coll_comm **own);

/* A new request of OWN, or one for the MPI library's own where that is NULL. */
int coll_request_create(const char *name, MPI_Comm comm, coll_comm *own, coll_pending **made);

/* A request that was prepared with CODE is started, or kept, and given to the user. */
int coll_request_hand_out(coll_pending *pending, bool persistent, int code, COLL_Request *request);

/* The same for the MPI library's own, which was started as NATIVE with CODE and has raised it. */
int coll_request_hand_out_native(coll_pending *pending, MPI_Request native, int code,
                                 COLL_Request *request);

#endif
