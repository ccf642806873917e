/* SPDX-License-Identifier: BSD-3-Clause */
/* The nonblocking and persistent calls of all operations. */
#ifndef COLL_LIB_API_REQUEST_H
#define COLL_LIB_API_REQUEST_H

#include "coll.h"
#include "lib/algorithm/operations.h"
#include "lib/call/args.h"

#include <mpi.h>

/* A call to be started, and the name of its entry. */
typedef struct coll_request_call {
    const char *name;
    coll_operation operation;
    const coll_user *user;
} coll_request_call;

/*
 * Starts a nonblocking call. The MPI library runs the call if the communicator is not set up or is
 * an intercommunicator, or if the user asks for native.
 */
int coll_request_start_call(const coll_request_call *entry, MPI_Comm comm, COLL_Request *handle);

/* Creates a persistent request; collective. */
int coll_request_create_persistent(const coll_request_call *entry, MPI_Comm comm,
                                   COLL_Request *handle);

#endif
