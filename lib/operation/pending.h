/*
 * Requests of nonblocking and persistent operations (COLL_Request). A communicator may have any
 * number of them, each with its own tags. They progress in every wait and test of the library, and
 * in its thread if COLL_PROGRESS=thread. A start never waits for other ranks.
 *
 * A request runs a course, mostly that of a plan, or the MPI library's own nonblocking operation.
 * The latter runs if the user asks for it, and on communicators that libcoll hasn't set up yet,
 * since the set-up is collective.
 */
#ifndef COLL_LIB_OPERATION_PENDING_H
#define COLL_LIB_OPERATION_PENDING_H

#include "coll.h"
#include "lib/base/comm.h"
#include "lib/operation/collective.h"
#include "lib/operation/operations.h"
#include "lib/operation/select.h"
#include "lib/schedule/course.h"

#include <stdint.h>

typedef enum coll_pending_stage {
    COLL_PENDING_IDLE,   /* persistent, not started */
    COLL_PENDING_AGREES, /* the ranks are agreeing on whether all have memory */
    COLL_PENDING_QUEUED, /* waits for memory, or for tags that are still in use */
    COLL_PENDING_RUNS,   /* its course is running */
    COLL_PENDING_NATIVE, /* the MPI library runs it */
    COLL_PENDING_COMPLETE
} coll_pending_stage;

typedef struct COLL_Pending coll_pending;

struct COLL_Pending {
    coll_pending *next, **link; /* in the list of all requests */
    const char *name;           /* of the public entry, "COLL_Ibcast" */
    MPI_Comm user;              /* its error handler gets the request's errors */
    bool persistent;            /* keeps its memory and tags until it is freed */
    _Atomic coll_pending_stage stage;
    int code;     /* result of the last completion */
    double since; /* when it was last started */

    MPI_Request native;       /* the MPI library's request */
    int *native_arguments;    /* counts that it needs until it is complete */
    coll_agreement agreement; /* maximum over the ranks of 1 (no memory) or 0 */

    coll_comm *comm;     /* NULL if libcoll hasn't set it up, or it was freed */
    coll_user user_call; /* the call's arguments */
    coll_uneven uneven;  /* the counts and displacements that they refer to */
    coll_collective call;
    coll_choice choice;
    coll_course *course;
    uint64_t turn; /* its number among the communicator's requests; determines its tags */
    size_t bytes;  /* memory that it needs; 0: nothing has to be sent */
    void *memory;
    bool reserved;   /* MEMORY is the communicator's reserve */
    coll_line *line; /* a copy: the communicator's own changes with the root */
};

/* Creates a request for the entry NAME on COMM, which has RANKS ranks (0: not set up). Returns NULL
 * without memory. */
coll_pending *coll_pending_create(const char *name, MPI_Comm comm, int ranks);

/* Frees a request that isn't active, with all that it owns. */
void coll_pending_free(coll_pending *pending);

/*
 * Describes USER's call of OPERATION on PENDING's communicator, and chooses an algorithm. If
 * nothing has to be sent, its start will complete it. Local. Errors: those of coll_collective_open.
 */
int coll_pending_prepare(coll_pending *pending, coll_operation operation, const coll_user *user);

/*
 * Makes PENDING persistent: allocates its memory and tags. CODE is the result of its preparation on
 * this rank. Collective; all ranks return the same error, which may be that of another rank's CODE.
 */
int coll_pending_keep(coll_pending *pending, int code);

/* Starts PENDING; local. After an error it is not active. */
int coll_pending_start(coll_pending *pending);

/* Makes PENDING track NATIVE, a request that the MPI library has started. */
void coll_pending_start_native(coll_pending *pending, MPI_Request native);

/* Returns whether PENDING is an existing request. */
bool coll_pending_exists(const coll_pending *pending);

/* Returns whether PENDING was started and its completion has not been returned to the user. */
static inline bool coll_pending_active(const coll_pending *pending) {
    return pending->stage != COLL_PENDING_IDLE;
}

/*
 * Progresses all requests, for a caller that polls; fails those that exceed COLL_TIMEOUT. Does
 * nothing and returns false if this or another thread is doing so already.
 */
bool coll_pending_advance(void);

/* Progresses all requests, and sets *DONE to whether PENDING is complete. */
void coll_pending_test(coll_pending *pending, bool *done);

/* Waits until PENDING is complete, or fails because nothing progressed during COLL_TIMEOUT. */
void coll_pending_wait(coll_pending *pending);

/* Returns a complete request's result. Persistent requests may then be started again. */
int coll_pending_end(coll_pending *pending);

/* The requests' slot in every communicator. */
extern coll_comm_key coll_pending_key;

#endif
