/*
 * Operations under way: what COLL_Request stands for. Any number of them on one communicator, each
 * with tags of its own; they move on in every wait and test of the library, and in its thread where
 * COLL_PROGRESS=thread asks for one. A start never waits for other ranks.
 *
 * What runs is a course, of a plan mostly, or the MPI library's own nonblocking operation: where
 * the user asks for it, and on communicators that libcoll doesn't know yet, since to set one up
 * takes all its ranks.
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
    COLL_PENDING_AGREES, /* finds out whether all ranks have memory */
    COLL_PENDING_QUEUED, /* waits for memory, or for tags that are still in use */
    COLL_PENDING_RUNS,   /* its course */
    COLL_PENDING_NATIVE, /* in the MPI library */
    COLL_PENDING_COMPLETE
} coll_pending_stage;

typedef struct COLL_Pending coll_pending;

struct COLL_Pending {
    coll_pending *next, **link; /* the list of all */
    const char *name;           /* of the public entry, "COLL_Ibcast" */
    MPI_Comm user;              /* whose error handler gets its errors */
    bool persistent;            /* keeps its memory and tags until it is freed */
    _Atomic coll_pending_stage stage;
    int code; /* of the last completion */
    double since;

    MPI_Request native;    /* of the MPI library's own */
    int *native_arguments; /* that it needs until it is complete */
    coll_agreement
        agreement; /* whether all ranks have memory: of numbers that are 1 if one hasn't */

    coll_comm *comm;     /* NULL: unknown to libcoll, or gone */
    coll_user user_call; /* the arguments of the call, */
    coll_uneven uneven;  /* and what they refer to */
    coll_collective call;
    coll_choice choice;
    coll_course *course;
    uint64_t turn; /* which of the communicator's; says its tags */
    size_t bytes;  /* of memory that it needs; 0: nothing has to be sent */
    void *memory;
    bool reserved;   /* it is the communicator's reserve */
    coll_line *line; /* its own: the communicator's changes with the root */
};

/* A new one for the entry NAME on COMM, or NULL without memory. RANKS: of COMM, or 0. */
coll_pending *coll_pending_create(const char *name, MPI_Comm comm, int ranks);

/* Frees one that isn't active, and what it opened. */
void coll_pending_free(coll_pending *pending);

/*
 * Describes USER's call of OPERATION on PENDING's communicator, and decides how it goes; local.
 * Where nothing has to be sent a start completes it. Errors: those of coll_collective_open.
 */
int coll_pending_prepare(coll_pending *pending, coll_operation operation, const coll_user *user);

/*
 * Sees to the memory and the tags of a persistent one that was prepared with CODE; collective.
 * Errors: CODE among them, the same on all ranks.
 */
int coll_pending_keep(coll_pending *pending, int code);

/* Starts it; local. After an error it is not active. */
int coll_pending_start(coll_pending *pending);

/* It is started already, as the MPI library's own request NATIVE. */
void coll_pending_start_native(coll_pending *pending, MPI_Request native);

/* Whether PENDING is a request that the library knows. */
bool coll_pending_exists(const coll_pending *pending);

/* Whether it was started and its user has not seen it complete. */
static inline bool coll_pending_active(const coll_pending *pending) {
    return pending->stage != COLL_PENDING_IDLE;
}

/*
 * Moves all on, for one who waits; gives up what has not moved for as long as COLL_TIMEOUT says.
 * False where this or another thread is at it already: it does nothing then.
 */
bool coll_pending_advance(void);

/* Moves all on; *DONE: PENDING is complete. */
void coll_pending_test(coll_pending *pending, bool *done);

/* Waits politely until PENDING is complete, or nothing moves for as long as COLL_TIMEOUT says. */
void coll_pending_wait(coll_pending *pending);

/* Its user has seen it complete: its code. A persistent one may be started again. */
int coll_pending_end(coll_pending *pending);

/* What it keeps with every communicator. */
extern coll_comm_key coll_pending_key;

#endif
