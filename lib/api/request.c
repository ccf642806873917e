/* Requests of nonblocking and persistent operations: their creation, and their public entries. */
#include "config.h"

#include "lib/api/request.h"

#include "coll.h"
#include "lib/base/dcp_hooks.h"
#include "lib/base/error.h"
#include "lib/call/request.h"
#include "lib/tuning/state.h"

/* --- Creation --- */

/* Sets *OWN to COMM's state if libcoll runs a nonblocking OPERATION on COMM, else to NULL. The same
 * on all ranks. */
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

static int create_request(const coll_request_call *entry, MPI_Comm comm, coll_comm *own,
                          coll_request **made) {
    *made = coll_request_create(entry->name, comm, own ? own->ranks : 0);
    if (!*made)
        return coll_raise(comm,
                          coll_error(MPI_ERR_NO_MEM, "%s: no memory for a request", entry->name));
    (*made)->comm = own;
    return MPI_SUCCESS;
}

/* Sets *REQUEST to PENDING, or frees PENDING if CODE is an error. Returns CODE. */
static int hand_out(coll_request *pending, int code, COLL_Request *request) {
    if (code == MPI_SUCCESS)
        *request = pending;
    else
        coll_request_free(pending);
    return code;
}

static int start_or_prepare(const coll_request_call *entry, coll_comm *own, bool persistent,
                            MPI_Comm comm, COLL_Request *request) {
    coll_request *pending;
    int code = create_request(entry, comm, own, &pending);
    if (code != MPI_SUCCESS)
        return code;
    code = coll_request_prepare(pending, entry->operation, entry->user);
    if (persistent)
        code = coll_request_keep(pending, code);
    else if (code == MPI_SUCCESS)
        code = coll_request_start(pending);
    return coll_raise(comm, hand_out(pending, code, request));
}

static int start_natively(const coll_request_call *entry, MPI_Comm comm, COLL_Request *request) {
    coll_request *pending;
    MPI_Request native = MPI_REQUEST_NULL;
    int code = create_request(entry, comm, NULL, &pending);
    if (code != MPI_SUCCESS)
        return code;
    code = coll_call_args_native(entry->operation, entry->user, coll_dcp_comm(comm), &native,
                                 &pending->native_arguments);
    if (code == MPI_SUCCESS)
        coll_request_start_native(pending, native);
    return hand_out(pending, code, request);
}

int coll_request_start_call(const coll_request_call *entry, MPI_Comm comm, COLL_Request *request) {
    coll_comm *own;
    int code = find_comm(comm, entry->operation, &own);
    if (code != MPI_SUCCESS)
        return code;
    return own ? start_or_prepare(entry, own, false, comm, request)
               : start_natively(entry, comm, request);
}

int coll_request_create_persistent(const coll_request_call *entry, MPI_Comm comm,
                                   COLL_Request *request) {
    coll_comm *own;
    int code = coll_comm_open_intra(comm, entry->name, &own);
    return code == MPI_SUCCESS ? start_or_prepare(entry, own, true, comm, request) : code;
}

/* --- Entries --- */

/* Checks that REQUEST is an existing request. */
static int check_request(const char *name, const COLL_Request *request) {
    if (request && *request && coll_request_exists(*request))
        return MPI_SUCCESS;
    return coll_raise(MPI_COMM_WORLD,
                      coll_error(MPI_ERR_REQUEST, "%s: %s", name,
                                 request && *request
                                     ? "the request is complete and freed already, or never was"
                                     : "no request"));
}

/* Returns the communicator whose error handler gets errors of PENDING. */
static MPI_Comm owner_of(const coll_request *pending) {
    return pending->comm ? pending->user : MPI_COMM_WORLD;
}

int COLL_Start(COLL_Request *request) {
    int code = check_request(__func__, request);
    if (code != MPI_SUCCESS)
        return code;
    coll_request *pending = *request;
    if (!pending->persistent)
        code = coll_error(MPI_ERR_REQUEST, "COLL_Start: the request of %s is not persistent",
                          pending->name);
    else if (coll_request_active(pending))
        code = coll_error(MPI_ERR_REQUEST, "COLL_Start: the request of %s is active already",
                          pending->name);
    else if (!pending->comm)
        code = coll_error(MPI_ERR_REQUEST, "COLL_Start: the communicator of %s has been freed",
                          pending->name);
    else
        code = coll_request_start(pending);
    return coll_raise(owner_of(pending), code);
}

/* Ends a complete request: raises its error, and frees it unless it is persistent. */
static int end_request(COLL_Request *request) {
    coll_request *pending = *request;
    MPI_Comm user = owner_of(pending);
    int code = coll_request_end(pending);
    if (!pending->persistent) {
        coll_request_free(pending);
        *request = COLL_REQUEST_NULL;
    }
    return coll_raise(user, code);
}

static int wait_or_test(const char *name, COLL_Request *request, bool wait, int *flag) {
    *flag = 1;
    if (request && !*request)
        return MPI_SUCCESS;
    int code = check_request(name, request);
    if (code != MPI_SUCCESS || !coll_request_active(*request))
        return code;
    bool done = true;
    if (wait)
        coll_request_wait(*request);
    else
        coll_request_test(*request, &done);
    *flag = done;
    return done ? end_request(request) : MPI_SUCCESS;
}

int COLL_Wait(COLL_Request *request) {
    int flag;
    return wait_or_test(__func__, request, true, &flag);
}

int COLL_Test(COLL_Request *request, int *flag) {
    return wait_or_test(__func__, request, false, flag);
}

int COLL_Waitall(int count, COLL_Request requests[]) {
    int flag, code = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        int next = wait_or_test(__func__, &requests[i], true, &flag);
        code = code == MPI_SUCCESS ? next : code;
    }
    return code;
}

int COLL_Request_free(COLL_Request *request) {
    int code = check_request(__func__, request);
    if (code != MPI_SUCCESS)
        return code;
    coll_request *pending = *request;
    if (!pending->persistent || coll_request_active(pending))
        return coll_raise(
            owner_of(pending),
            coll_error(MPI_ERR_REQUEST, "COLL_Request_free: the request of %s is %s", pending->name,
                       pending->persistent ? "active" : "not persistent; wait for it"));
    coll_request_free(pending);
    *request = COLL_REQUEST_NULL;
    return MPI_SUCCESS;
}
