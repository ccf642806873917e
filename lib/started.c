/* The public entries of operations that are started: nonblocking and persistent ones. */
#include "config.h"

#include "coll.h"
#include "lib/arguments.h"
#include "lib/base/error.h"
#include "lib/base/substitute.h"
#include "lib/operation/call.h"
#include "lib/operation/direct.h"
#include "lib/operation/state.h"
#include "lib/request.h"

#include <limits.h>
#include <stdlib.h>

/* Whether an operation on COMM is libcoll's: *OWN is its state, else NULL. All ranks find the same.
 */
static int find_comm(MPI_Comm comm, coll_operation operation, coll_comm **own) {
    *own = comm == MPI_COMM_NULL ? NULL : coll_comm_find(comm);
    if (comm == MPI_COMM_NULL)
        return coll_raise(comm, coll_error(MPI_ERR_COMM, "null communicator"));
    if (!*own)
        return MPI_SUCCESS;
    if (coll_state_of(*own)->specs[operation].algorithm == coll_operations[operation].table[0])
        *own = NULL;
    return *own ? coll_raise(comm, (*own)->broken) : MPI_SUCCESS;
}

static int create(const coll_entry *entry, MPI_Comm comm, coll_comm *own, coll_pending **made) {
    *made = coll_pending_create(entry->name, comm, own ? own->ranks : 0);
    if (!*made)
        return coll_raise(comm,
                          coll_error(MPI_ERR_NO_MEM, "%s: no memory for a request", entry->name));
    (*made)->comm = own;
    return MPI_SUCCESS;
}

/* The user gets PENDING, unless it failed with CODE. */
static int hand_out(coll_pending *pending, int code, COLL_Request *request) {
    if (code == MPI_SUCCESS)
        *request = pending;
    else
        coll_pending_free(pending);
    return code;
}

static int start(const coll_entry *entry, coll_comm *own, bool persistent, MPI_Comm comm,
                 COLL_Request *request) {
    coll_pending *pending;
    int code = create(entry, comm, own, &pending);
    if (code != MPI_SUCCESS)
        return code;
    code = entry->prepare(pending, entry);
    if (persistent)
        code = coll_pending_keep(pending, code);
    else if (code == MPI_SUCCESS)
        code = coll_pending_start(pending);
    return coll_raise(comm, hand_out(pending, code, request));
}

static int start_natively(const coll_entry *entry, MPI_Comm comm, COLL_Request *request) {
    coll_pending *pending;
    MPI_Request native = MPI_REQUEST_NULL;
    int code = create(entry, comm, NULL, &pending);
    if (code != MPI_SUCCESS)
        return code;
    code = entry->natively(entry, comm, &native, &pending->native_arguments);
    if (code == MPI_SUCCESS)
        coll_pending_start_native(pending, native);
    return hand_out(pending, code, request);
}

int coll_request_start(const coll_entry *entry, MPI_Comm comm, COLL_Request *request) {
    coll_comm *own;
    int code = find_comm(comm, entry->operation, &own);
    if (code != MPI_SUCCESS)
        return code;
    return own ? start(entry, own, false, comm, request) : start_natively(entry, comm, request);
}

int coll_request_keep(const coll_entry *entry, MPI_Comm comm, COLL_Request *request) {
    coll_comm *own;
    int code = coll_call_open_intra(comm, entry->name, &own);
    return code == MPI_SUCCESS ? start(entry, own, true, comm, request) : code;
}

/* --- Broadcast --- */

typedef struct bcast_arguments {
    void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    int root;
} bcast_arguments;

static int prepare_bcast(coll_pending *pending, const coll_entry *entry) {
    const bcast_arguments *given = entry->given;
    coll_comm *own = pending->comm;
    int code = coll_check_bcast(given->buffer, given->count, given->type, given->root, own->ranks);
    if (code == MPI_SUCCESS)
        code = coll_direct_data(own, &pending->data, given->buffer, given->count, given->type);
    if (code == MPI_SUCCESS)
        coll_pending_prepare(pending, COLL_OPERATION_BCAST, pending->data.bytes, given->root);
    return code;
}

static int bcast_natively(const coll_entry *entry, MPI_Comm comm, MPI_Request *native,
                          int **arguments) {
    const bcast_arguments *given = entry->given;
    (void)arguments;
    if (given->count > INT_MAX)
        return coll_raise(comm, coll_too_many());
    return PMPI_Ibcast(given->buffer, (int)given->count, given->type, given->root,
                       coll_dcp_comm(comm), native);
}

COLL_STARTED(COLL_Ibcast, COLL_Bcast_init, COLL_OPERATION_BCAST, prepare_bcast, bcast_natively,
             bcast_arguments, (void *buffer, MPI_Count count, MPI_Datatype type, int root, ),
             buffer, count, type, root)

/* --- Gather --- */

typedef struct gather_arguments {
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    coll_blocks_layout layout;
    bool even; /* all blocks are as long: without counts */
    int root;
} gather_arguments;

static int prepare_root(coll_pending *pending, const gather_arguments *given, size_t *bytes) {
    coll_comm *own = pending->comm;
    int code = coll_blocks_open(&pending->blocks, &given->layout, own->ranks);
    pending->has_blocks = code == MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        return code;
    *bytes = coll_blocks_longest(&pending->blocks);
    if (given->buffer == MPI_IN_PLACE)
        return MPI_SUCCESS;
    code = coll_direct_data(own, &pending->own, given->buffer, given->count, given->type);
    return code == MPI_SUCCESS ? coll_check_own(pending->own.bytes,
                                                coll_blocks_bytes(&pending->blocks, given->root))
                               : code;
}

static int prepare_gather(coll_pending *pending, const coll_entry *entry) {
    const gather_arguments *given = entry->given;
    coll_comm *own = pending->comm;
    size_t bytes = 0;
    int code = coll_check_gather(given->buffer, given->count, given->type, &given->layout,
                                 given->root, own);
    if (code == MPI_SUCCESS && own->rank == given->root)
        code = prepare_root(pending, given, &bytes);
    else if (code == MPI_SUCCESS)
        code = coll_direct_data(own, &pending->data, given->buffer, given->count, given->type);
    if (own->rank != given->root)
        bytes = pending->data.bytes;
    if (code == MPI_SUCCESS)
        coll_pending_prepare(pending, COLL_OPERATION_GATHER,
                             given->even ? bytes : COLL_BYTES_UNKNOWN, given->root);
    return code;
}

/* Counts and displacements live as long as the request. */
static int gather_natively(const coll_entry *entry, MPI_Comm comm, MPI_Request *native,
                           int **arguments) {
    const gather_arguments *given = entry->given;
    const coll_blocks_layout *into = &given->layout;
    int *counts, *places;
    if (given->even && (given->count > INT_MAX || into->count > INT_MAX))
        return coll_raise(comm, coll_too_many());
    if (given->even)
        return PMPI_Igather(given->buffer, (int)given->count, given->type, into->buffer,
                            (int)into->count, into->type, given->root, coll_dcp_comm(comm), native);
    int code = coll_int_counts(into, given->count, given->root, comm, &counts, &places);
    if (code != MPI_SUCCESS)
        return coll_raise(comm, code);
    *arguments = counts;
    return PMPI_Igatherv(given->buffer, (int)given->count, given->type, into->buffer, counts,
                         places, into->type, given->root, coll_dcp_comm(comm), native);
}

COLL_STARTED(COLL_Igather, COLL_Gather_init, COLL_OPERATION_GATHER, prepare_gather, gather_natively,
             gather_arguments,
             (const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
              void *receive_buffer, MPI_Count receive_count, MPI_Datatype receive_type, int root, ),
             .buffer = send_buffer, .count = send_count, .type = send_type,
             .layout = {.buffer = receive_buffer, .count = receive_count, .type = receive_type},
             .even = true, .root = root)

COLL_STARTED(COLL_Igatherv, COLL_Gatherv_init, COLL_OPERATION_GATHER, prepare_gather,
             gather_natively, gather_arguments,
             (const void *send_buffer, MPI_Count send_count, MPI_Datatype send_type,
              void *receive_buffer, const MPI_Count receive_counts[],
              const MPI_Aint displacements[], MPI_Datatype receive_type, int root, ),
             .buffer = send_buffer, .count = send_count, .type = send_type,
             .layout = {.buffer = receive_buffer,
                        .counts = receive_counts,
                        .places = displacements,
                        .type = receive_type},
             .root = root)

/* --- Requests --- */

/* What the user gave must be a request that still exists. */
static int check_request(const char *name, const COLL_Request *request) {
    if (request && *request && coll_pending_exists(*request))
        return MPI_SUCCESS;
    return coll_raise(MPI_COMM_WORLD,
                      coll_error(MPI_ERR_REQUEST, "%s: %s", name,
                                 request && *request
                                     ? "the request is complete and freed already, or never was"
                                     : "no request"));
}

int COLL_Start(COLL_Request *request) {
    int code = check_request(__func__, request);
    if (code != MPI_SUCCESS)
        return code;
    coll_pending *pending = *request;
    if (!pending->persistent)
        code = coll_error(MPI_ERR_REQUEST, "COLL_Start: the request of %s is not persistent",
                          pending->name);
    else if (coll_pending_active(pending))
        code = coll_error(MPI_ERR_REQUEST, "COLL_Start: the request of %s is active already",
                          pending->name);
    else if (!pending->comm)
        code = coll_error(MPI_ERR_REQUEST, "COLL_Start: the communicator of %s has been freed",
                          pending->name);
    else
        code = coll_pending_start(pending);
    return coll_raise(pending->comm ? pending->user : MPI_COMM_WORLD, code);
}

/* PENDING is complete. */
static int end(COLL_Request *request) {
    coll_pending *pending = *request;
    MPI_Comm user = pending->comm ? pending->user : MPI_COMM_WORLD;
    int code = coll_pending_end(pending);
    if (!pending->persistent) {
        coll_pending_free(pending);
        *request = COLL_REQUEST_NULL;
    }
    return coll_raise(user, code);
}

static int complete(const char *name, COLL_Request *request, bool wait, int *flag) {
    *flag = 1;
    if (request && !*request)
        return MPI_SUCCESS;
    int code = check_request(name, request);
    if (code != MPI_SUCCESS || !coll_pending_active(*request))
        return code;
    bool done = true;
    if (wait)
        coll_pending_wait(*request);
    else
        coll_pending_test(*request, &done);
    *flag = done;
    return done ? end(request) : MPI_SUCCESS;
}

int COLL_Wait(COLL_Request *request) {
    int flag;
    return complete(__func__, request, true, &flag);
}

int COLL_Test(COLL_Request *request, int *flag) {
    return complete(__func__, request, false, flag);
}

int COLL_Waitall(int count, COLL_Request requests[]) {
    int flag, code = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        int next = complete(__func__, &requests[i], true, &flag);
        code = code == MPI_SUCCESS ? next : code;
    }
    return code;
}

int COLL_Request_free(COLL_Request *request) {
    int code = check_request(__func__, request);
    if (code != MPI_SUCCESS)
        return code;
    coll_pending *pending = *request;
    if (!pending->persistent || coll_pending_active(pending))
        return coll_raise(
            pending->comm ? pending->user : MPI_COMM_WORLD,
            coll_error(MPI_ERR_REQUEST, "COLL_Request_free: the request of %s is %s", pending->name,
                       pending->persistent ? "active" : "not persistent; wait for it"));
    coll_pending_free(pending);
    *request = COLL_REQUEST_NULL;
    return MPI_SUCCESS;
}
