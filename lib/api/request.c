/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of nonblocking and persistent operations: their creation, and their public entries. */
#include "config.h"

#include "lib/api/request.h"

#include "coll.h"
#include "lib/base/dcp_hooks.h"
#include "lib/base/error.h"
#include "lib/call/request.h"
#include "lib/topology/graph.h"
#include "lib/tuning/state.h"

/* --- Creation --- */

/* Sets *OWN to COMM's state if libcoll runs a nonblocking OPERATION on COMM, else to NULL. The
 * result is the same on all ranks. */
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

static int start_natively(const coll_request_call *entry, MPI_Comm comm, coll_request *request) {
    MPI_Request native = MPI_REQUEST_NULL;
    const int code = coll_native_run(entry->operation, entry->user, coll_dcp_comm(comm), &native,
                                     &request->native_arguments);
    if (code == MPI_SUCCESS)
        coll_request_start_native(request, native);
    return code;
}

/* Creates the request of a call, and starts it unless it is PERSISTENT. If OWN is NULL, the MPI
 * library runs the call, and raises its own errors. */
static int create_request(const coll_request_call *entry, MPI_Comm comm, coll_comm *own,
                          bool persistent, COLL_Request *handle) {
    coll_request *request = coll_request_create(entry->name, comm, own ? own->ranks : 0);
    if (!request)
        return coll_raise(comm,
                          coll_error(MPI_ERR_NO_MEM, "%s: no memory for a request", entry->name));
    request->comm = own;
    int code = own ? coll_request_prepare(request, entry->operation, entry->user)
                   : start_natively(entry, comm, request);
    if (persistent)
        code = coll_request_keep(request, code);
    else if (own && code == MPI_SUCCESS)
        code = coll_request_start(request);
    const bool raised = !own || request->call.raised;
    if (code == MPI_SUCCESS)
        *handle = request;
    else
        coll_request_free(request);
    return raised ? code : coll_raise(comm, code);
}

int coll_request_start_call(const coll_request_call *entry, MPI_Comm comm, COLL_Request *handle) {
    coll_comm *own;
    int code = find_comm(comm, entry->operation, &own);
    return code == MPI_SUCCESS ? create_request(entry, comm, own, false, handle) : code;
}

int coll_request_create_persistent(const coll_request_call *entry, MPI_Comm comm,
                                   COLL_Request *handle) {
    coll_comm *own;
    int code = coll_comm_open_intra(comm, entry->name, &own);
    if (code != MPI_SUCCESS)
        return code;
    if (coll_operations[entry->operation].neighbors)
        code = coll_graph_gather(own, &coll_state_of(own)->topo);
    return code == MPI_SUCCESS ? create_request(entry, comm, own, true, handle)
                               : coll_raise(comm, code);
}

/* --- Entries --- */

/* Checks that HANDLE is an existing request. */
static int check_request(const char *name, const COLL_Request *handle) {
    if (handle && *handle && coll_request_exists(*handle))
        return MPI_SUCCESS;
    return coll_raise(MPI_COMM_WORLD,
                      coll_error(MPI_ERR_REQUEST, "%s: %s", name,
                                 handle && *handle
                                     ? "the request is complete and freed already, or never was"
                                     : "no request"));
}

/* Returns the communicator whose error handler gets errors of REQUEST. */
static MPI_Comm owner_of(const coll_request *request) {
    return request->comm ? request->user : MPI_COMM_WORLD;
}

static int start_recorded(coll_request *request) {
    const uint64_t began = coll_report_begin();
    const int code = coll_request_start(request);
    if (began)
        coll_report_end(began, code, request->call.operation, COLL_REPORT_PERSISTENT,
                        &(COLL_Report_amount){.type = MPI_BYTE}, request->user);
    return code;
}

int COLL_Start(COLL_Request *handle) {
    int code = check_request(__func__, handle);
    if (code != MPI_SUCCESS)
        return code;
    coll_request *request = *handle;
    if (!request->persistent)
        code = coll_error(MPI_ERR_REQUEST, "COLL_Start: the request of %s is not persistent",
                          request->name);
    else if (coll_request_active(request))
        code = coll_error(MPI_ERR_REQUEST, "COLL_Start: the request of %s is active already",
                          request->name);
    else if (!request->comm)
        code = coll_error(MPI_ERR_REQUEST, "COLL_Start: the communicator of %s has been freed",
                          request->name);
    else if ((code = start_recorded(request)) != MPI_SUCCESS && request->call.raised)
        return code;
    return coll_raise(owner_of(request), code);
}

/* Ends a complete request: raises its error, and frees it unless it is persistent. */
static int end_request(COLL_Request *handle) {
    coll_request *request = *handle;
    MPI_Comm user = owner_of(request);
    int code = coll_request_end(request);
    if (!request->persistent) {
        coll_request_free(request);
        *handle = COLL_REQUEST_NULL;
    }
    return coll_raise(user, code);
}

static int wait_or_test(const char *name, COLL_Request *handle, bool wait, int *flag) {
    *flag = 1;
    if (handle && !*handle)
        return MPI_SUCCESS;
    int code = check_request(name, handle);
    if (code != MPI_SUCCESS || !coll_request_active(*handle))
        return code;
    const uint64_t began = coll_report_begin();
    coll_report_class *class = (*handle)->class;
    bool done = true;
    if (wait)
        coll_request_wait(*handle);
    else
        coll_request_test(*handle, &done);
    if (began)
        coll_report_end_wait(began, class);
    *flag = done;
    return done ? end_request(handle) : MPI_SUCCESS;
}

int COLL_Wait(COLL_Request *handle) {
    int flag;
    return wait_or_test(__func__, handle, true, &flag);
}

int COLL_Test(COLL_Request *handle, int *flag) {
    return wait_or_test(__func__, handle, false, flag);
}

int COLL_Waitall(int count, COLL_Request handles[]) {
    int flag, code = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        int next = wait_or_test(__func__, &handles[i], true, &flag);
        code = code == MPI_SUCCESS ? next : code;
    }
    return code;
}

int COLL_Request_free(COLL_Request *handle) {
    int code = check_request(__func__, handle);
    if (code != MPI_SUCCESS)
        return code;
    coll_request *request = *handle;
    if (!request->persistent || coll_request_active(request))
        return coll_raise(
            owner_of(request),
            coll_error(MPI_ERR_REQUEST, "COLL_Request_free: the request of %s is %s", request->name,
                       request->persistent ? "active" : "not persistent; wait for it"));
    coll_request_free(request);
    *handle = COLL_REQUEST_NULL;
    return MPI_SUCCESS;
}
