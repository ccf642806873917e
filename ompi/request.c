/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of nonblocking and persistent operations. While a request is active, Open MPI's progress
 * engine also advances libcoll, so every MPI call that waits or tests does so too.
 */
#include "ompi/component.h"

#include <pthread.h>
#include <stdlib.h>

/* Guards the list of active requests. It is never held while a request is completed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static libcoll_request *active;

static ompi_request_t *handle_of(libcoll_request *request) {
    return &request->super.super;
}

static void construct(libcoll_request *request) {
    request->under_way = COLL_REQUEST_NULL;
    request->vectors = NULL;
    request->op = NULL;
    request->type = NULL;
    request->next = NULL;
}

static void destruct(libcoll_request *request) {
    free(request->vectors);
    if (request->op)
        OBJ_RELEASE(request->op);
    if (request->type)
        OBJ_RELEASE(request->type);
}

OBJ_CLASS_INSTANCE(libcoll_request, ompi_coll_base_nbc_request_t, construct, destruct);

/* Completes REQUEST, whose libcoll request is complete. The program may free it from then on. */
static void complete_request(libcoll_request *request) {
    libcoll_enter();
    handle_of(request)->req_status.MPI_ERROR = COLL_Wait(&request->under_way);
    libcoll_leave();
    ompi_request_complete(handle_of(request), true);
}

/* Removes the complete requests from the list and returns them. The lock is held. */
static libcoll_request *take_complete(void) {
    libcoll_request *taken = NULL, **link = &active;
    while (*link) {
        libcoll_request *one = *link;
        if (!COLL_Is_complete(one->under_way)) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        one->next = taken;
        taken = one;
    }
    return taken;
}

static int is_complete(ompi_request_t *request) {
    return REQUEST_COMPLETE(request);
}

/*
 * Open MPI calls this repeatedly, from any thread. MPI calls that libcoll makes lead here, too.
 * Does nothing while this thread is in libcoll, which advances all operations itself. The exception
 * is when libcoll has Open MPI run a blocking collective. Nothing else advances libcoll's
 * operations then, and other ranks may not reach that collective before a request of theirs is
 * complete.
 */
static int progress_requests(void) {
    libcoll_request *taken = NULL;
    int count = 0;
    if (libcoll_inside != libcoll_blocked || pthread_mutex_trylock(&lock) != 0)
        return 0;
    libcoll_enter();
    if (active && COLL_Advance(is_complete))
        taken = take_complete();
    libcoll_leave();
    if (taken && !active)
        (void)opal_progress_unregister(progress_requests);
    pthread_mutex_unlock(&lock);
    for (libcoll_request *next; taken; taken = next, count++) {
        next = taken->next;
        complete_request(taken);
    }
    return count;
}

/*
 * Adds a started request to the active ones, even if it is complete already: Open MPI must not see
 * it complete yet, because Open MPI stores the objects to release at completion only after this
 * function has returned.
 */
static void add_to_active(libcoll_request *request) {
    pthread_mutex_lock(&lock);
    if (!active)
        (void)opal_progress_register(progress_requests);
    request->next = active;
    active = request;
    pthread_mutex_unlock(&lock);
}

void libcoll_request_init(ompi_request_t *handle, struct ompi_communicator_t *comm, bool persistent,
                          ompi_request_start_fn_t start, ompi_request_free_fn_t release) {
    OMPI_REQUEST_INIT(handle, persistent);
    handle->req_type = OMPI_REQUEST_COLL;
    handle->req_mpi_object.comm = comm;
    handle->req_start = start;
    handle->req_free = release;
    handle->req_cancel = NULL;
    handle->req_status = ompi_status_empty;
}

void libcoll_request_mark_active(ompi_request_t *handle) {
    handle->req_status = ompi_status_empty;
    handle->req_complete = REQUEST_PENDING;
    handle->req_state = OMPI_REQUEST_ACTIVE;
}

static int start_requests(size_t count, ompi_request_t **requests) {
    int code = MPI_SUCCESS;
    for (size_t i = 0; i < count && code == MPI_SUCCESS; i++) {
        libcoll_request *request = (libcoll_request *)requests[i];
        libcoll_enter();
        code = COLL_Start(&request->under_way);
        libcoll_leave();
        if (code != MPI_SUCCESS)
            break;
        libcoll_request_mark_active(handle_of(request));
        add_to_active(request);
    }
    return code;
}

static void destroy_request(libcoll_request *request) {
    OMPI_REQUEST_FINI(handle_of(request));
    OBJ_RELEASE(request);
}

/* Frees a persistent request for the program, or a complete one for Open MPI. */
static int free_request(ompi_request_t **handle) {
    libcoll_request *request = (libcoll_request *)*handle;
    if (!REQUEST_COMPLETE(handle_of(request)))
        return MPI_ERR_REQUEST;
    if (request->under_way) {
        libcoll_enter();
        int code = COLL_Request_free(&request->under_way);
        libcoll_leave();
        if (code != MPI_SUCCESS)
            return code;
    }
    destroy_request(request);
    *handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

libcoll_request *libcoll_request_make(struct ompi_communicator_t *comm, bool persistent, MPI_Op op,
                                      MPI_Datatype type) {
    libcoll_request *made = OBJ_NEW(libcoll_request);
    if (!made)
        return NULL;
    if (op != MPI_OP_NULL) {
        OBJ_RETAIN(op);
        made->op = op;
    }
    /* Open MPI keeps the datatypes of a request only while the request is active. */
    if (op != MPI_OP_NULL && persistent && type && !ompi_datatype_is_predefined(type)) {
        OBJ_RETAIN(type);
        made->type = type;
    }
    libcoll_request_init(handle_of(made), comm, persistent, start_requests, free_request);
    return made;
}

int libcoll_request_hand_out(libcoll_request *request, int code, ompi_request_t **handle) {
    if (code != MPI_SUCCESS) {
        destroy_request(request);
        return code;
    }
    *handle = handle_of(request);
    if (!handle_of(request)->req_persistent) {
        libcoll_request_mark_active(handle_of(request));
        add_to_active(request);
    }
    return MPI_SUCCESS;
}
