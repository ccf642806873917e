/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of nonblocking and persistent operations (COLL_Request). A communicator may have any
 * number of them, each with its own tags. They progress in every wait and test of the library, and
 * in its thread if COLL_PROGRESS=thread. A start never waits for other ranks.
 *
 * A request runs a task, mostly that of a plan, or the MPI library's own nonblocking operation.
 * The latter runs if the user asks for it, and on communicators that libcoll hasn't set up yet,
 * since the set-up is collective.
 */
#ifndef COLL_LIB_CALL_REQUEST_H
#define COLL_LIB_CALL_REQUEST_H

#include "coll.h"
#include "lib/algorithm/operations.h"
#include "lib/base/comm.h"
#include "lib/call/args.h"
#include "lib/plan/task.h"
#include "lib/report/record.h"
#include "lib/tuning/select.h"

#include <stdint.h>

typedef enum coll_request_stage {
    COLL_REQUEST_IDLE,   /* persistent, not started */
    COLL_REQUEST_AGREES, /* the ranks are agreeing on whether all have memory */
    COLL_REQUEST_QUEUED, /* waits for memory, or for tags that are still in use */
    COLL_REQUEST_RUNS,   /* its task is running */
    COLL_REQUEST_NATIVE, /* the MPI library runs it */
    COLL_REQUEST_COMPLETE
} coll_request_stage;

typedef struct COLL_Pending coll_request;

struct COLL_Pending {
    coll_request *next, **link; /* in the list of all requests */
    const char *name;           /* of the public entry, "COLL_Ibcast" */
    MPI_Comm user;              /* its error handler gets the errors, unless COMM is NULL */
    bool persistent;            /* keeps its memory and tags until it is freed */
    _Atomic coll_request_stage stage;
    int code;     /* result of the last completion */
    double since; /* when it was last started */

    MPI_Request native;       /* the MPI library's request */
    int *native_arguments;    /* counts that NATIVE needs until it is complete */
    coll_agreement agreement; /* maximum over the ranks of 1 (no memory) or 0 */

    /* NULL if libcoll has no part in the call (lib/api/request.c), or if COMM was freed */
    coll_comm *comm;
    coll_user user_call; /* the call's arguments */
    coll_uneven uneven;  /* the counts and displacements that they refer to */
    coll_call_args call;
    coll_choice choice;
    coll_report_class *class; /* the class that counts it in the report; NULL: none */
    coll_task *task;
    uint64_t turn; /* its number among the communicator's requests; determines its tags */
    size_t bytes;  /* memory that it needs; 0: it sends nothing, or the MPI library runs it */
    void *memory;
    bool reserved;         /* MEMORY is the communicator's reserve */
    coll_rank_order *line; /* a copy: the communicator's own rank order changes with the root */
};

/* Creates a request for the entry NAME on COMM, which has RANKS ranks (0: not set up). Returns NULL
 * if out of memory. */
coll_request *coll_request_create(const char *name, MPI_Comm comm, int ranks);

/* Frees a request that isn't active, with all that it owns. */
void coll_request_free(coll_request *request);

/*
 * Describes USER's call of OPERATION on REQUEST's communicator, and chooses an algorithm. If
 * nothing has to be sent, starting REQUEST also completes it. Local. Errors: those of
 * coll_call_args_open.
 */
int coll_request_prepare(coll_request *request, coll_operation operation, const coll_user *user);

/*
 * Makes REQUEST persistent: allocates its memory and tags. CODE is the result of its preparation on
 * this rank. Collective; all ranks return the same error, which may be that of another rank's CODE.
 */
int coll_request_keep(coll_request *request, int code);

/*
 * Starts REQUEST; local. After an error REQUEST is not active. An error of REQUEST's first messages
 * is not returned here: it completes REQUEST, and coll_request_end returns it.
 */
int coll_request_start(coll_request *request);

/* Makes REQUEST track NATIVE, a request that the MPI library has started. */
void coll_request_start_native(coll_request *request, MPI_Request native);

/* Returns whether REQUEST is an existing request. */
bool coll_request_exists(const coll_request *request);

/* Returns whether REQUEST was started and its completion has not been returned to the user. */
static inline bool coll_request_active(const coll_request *request) {
    return request->stage != COLL_REQUEST_IDLE;
}

/* Returns whether any request is under way: started, and not known to be complete. Local. */
bool coll_request_any_under_way(void);

/*
 * Progresses all requests, for a caller that polls; fails those that exceed COLL_TIMEOUT. Does
 * nothing and returns false if this or another thread is doing so already. IS_COMPLETE may be NULL;
 * see coll_task_advance.
 */
bool coll_request_advance(coll_is_complete *is_complete);

/* Progresses all requests, and sets *DONE to whether REQUEST is complete. */
void coll_request_test(coll_request *request, bool *done);

/* Waits until REQUEST is complete. Makes REQUEST fail if no request progresses for COLL_TIMEOUT. */
void coll_request_wait(coll_request *request);

/* Returns a complete request's result. Persistent requests may then be started again. */
int coll_request_end(coll_request *request);

/* The requests' slot in every communicator. */
extern coll_comm_key coll_request_key;

#endif
