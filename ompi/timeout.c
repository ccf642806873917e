/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * COLL_TIMEOUT for nonblocking calls that are left to the MPI library. The program gets a request
 * of the component, which completes with the library's request, or with an error if the library's
 * request takes too long. The messages are the same as without a timeout.
 */
#include "ompi/component.h"

#include <coll_component.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef struct timed_request {
    ompi_coll_base_nbc_request_t super;
    ompi_request_t *below; /* the library's request; not freed after the time has run out */
    const char *name;      /* name of the MPI function */
    double seconds, since;
    bool late;
    struct timed_request *next;
} timed_request;
static OBJ_CLASS_INSTANCE(timed_request, ompi_coll_base_nbc_request_t, NULL, NULL);

/* Guards both lists. It is never held while a request is completed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static timed_request *active;
static timed_request *given_up; /* never freed: the library still uses BELOW */

static ompi_request_t *handle_of(timed_request *request) {
    return &request->super.super;
}

/*
 * Returns whether CALLER, a return address, is in one of MPI's nonblocking functions. Other callers
 * in Open MPI agree on the numbers of new communicators, and ignore the errors of their requests.
 */
static bool is_of_program(const void *caller) {
    Dl_info found;
    if (!dladdr(caller, &found) || !found.dli_sname)
        return false;
    const char *name = found.dli_sname;
    return strncmp(name + (*name == 'P'), "MPI_I", 5) == 0;
}

/* Completes REQUEST, which the program may free from then on. */
static void complete_request(timed_request *request) {
    ompi_request_t *handle = handle_of(request);
    if (request->late) {
        handle->req_status.MPI_ERROR = COLL_Timed_out(request->name, request->seconds);
        /* Don't run the completion callback: it would release the datatypes and the operation,
         * which the library may still use. */
        handle->req_complete_cb = NULL;
    } else {
        handle->req_status = request->below->req_status;
        (void)ompi_request_free(&request->below);
    }
    ompi_request_complete(handle, true);
}

/*
 * Removes the active requests that are complete or late from the list and returns them. The lock is
 * held. A process that calls this again and again is waiting, but for which request is unknown. So
 * a request is late if it is older than its timeout and no request has completed for as long. A
 * process that has not called this for more than COMPUTED seconds was computing or stopped: then
 * the time for all requests begins anew.
 */
static timed_request *remove_finished(void) {
    static const double COMPUTED = 0.1;
    static double looked, quiet_since;
    timed_request *over = NULL;
    double now = PMPI_Wtime();
    bool moved = false;
    for (timed_request *one = active; one && !moved; one = one->next)
        moved = REQUEST_COMPLETE(one->below);
    if (moved || now - looked > COMPUTED)
        quiet_since = now;
    looked = now;
    for (timed_request **link = &active; *link;) {
        timed_request *one = *link;
        double since = one->since > quiet_since ? one->since : quiet_since;
        bool done = REQUEST_COMPLETE(one->below);
        one->late = !done && now - since > one->seconds;
        if (!done && !one->late) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        one->next = over;
        over = one;
    }
    return over;
}

/*
 * Open MPI calls this repeatedly, from any thread. A thread in libcoll doesn't wait for these
 * requests.
 */
static int progress_requests(void) {
    int count = 0;
    if (libcoll_inside > 0 || pthread_mutex_trylock(&lock) != 0)
        return 0;
    timed_request *over = active ? remove_finished() : NULL;
    if (over && !active)
        (void)opal_progress_unregister(progress_requests);
    pthread_mutex_unlock(&lock);
    for (timed_request *next; over; over = next, count++) {
        next = over->next;
        complete_request(over);
    }
    return count;
}

/*
 * Frees a complete request, for Open MPI or the program. A late request only moves to the list
 * GIVEN_UP.
 */
static int free_request(ompi_request_t **handle) {
    timed_request *request = (timed_request *)*handle;
    if (!REQUEST_COMPLETE(*handle))
        return MPI_ERR_REQUEST;
    OMPI_REQUEST_FINI(*handle);
    *handle = MPI_REQUEST_NULL;
    if (!request->late) {
        OBJ_RELEASE(request);
        return MPI_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    request->next = given_up;
    given_up = request;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

static timed_request *make_request(struct ompi_communicator_t *comm, const char *name,
                                   double seconds, ompi_request_t *below) {
    timed_request *made = OBJ_NEW(timed_request);
    if (!made)
        return NULL;
    libcoll_request_init(handle_of(made), comm, false, NULL, free_request);
    libcoll_request_mark_active(handle_of(made));
    made->below = below;
    made->name = name;
    made->seconds = seconds;
    made->since = PMPI_Wtime();
    made->late = false;
    return made;
}

void libcoll_end_in_time(struct ompi_communicator_t *comm, const char *name, const void *caller,
                         ompi_request_t **request) {
    if (libcoll_inside > 0 || ompi_mpi_state != OMPI_MPI_STATE_INIT_COMPLETED ||
        REQUEST_COMPLETE(*request))
        return;
    double seconds = COLL_Timeout(comm);
    timed_request *made =
        seconds > 0 && is_of_program(caller) ? make_request(comm, name, seconds, *request) : NULL;
    if (!made)
        return;
    pthread_mutex_lock(&lock);
    if (!active)
        (void)opal_progress_register(progress_requests);
    made->next = active;
    active = made;
    pthread_mutex_unlock(&lock);
    *request = handle_of(made);
}
