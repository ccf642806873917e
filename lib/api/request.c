/* The public entries for requests of nonblocking and persistent operations. */
#include "config.h"

#include "coll.h"
#include "lib/base/error.h"
#include "lib/call/request.h"

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
