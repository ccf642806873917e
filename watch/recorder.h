/* Between the program's calls and the ring: what the entries (entries.c.in) call. */
#ifndef COLL_WATCH_RECORDER_H
#define COLL_WATCH_RECORDER_H

#include "watch/communicators.h"
#include "watch/record.h"

#include <mpi.h>
#include <stdbool.h>

/* A call's arguments, by what they mean; those that it hasn't are 0. */
typedef struct watch_call {
    int id; /* of watch_calls */
    void *caller;
    MPI_Comm comm;
    int peer, tag;      /* root, destination, and the tag that is not of an exchange's receive */
    int from, from_tag; /* source */
    int count, from_count;
    MPI_Datatype type, from_type;
    const int *counts;
    MPI_Op op;
    MPI_Request *request;  /* that it gives out */
    MPI_Request *requests; /* that it takes: COUNT, or one */
    MPI_Comm *made, *freed;
    MPI_Datatype *freed_type;
    const char *name;
    const void *sendbuf; /* of MPI_Allreduce */
    void *recvbuf;
    /* Set by watch_begin: */
    watch_record *record;
    watch_comm *place;
    bool done; /* the comparison of COLL_WATCH=check has brought the result, too */
} watch_call;

extern bool watch_on;
extern _Thread_local bool watch_inside __attribute__((tls_model("initial-exec")));

/* True where a call is the program's own and is watched. watch_end must follow. */
static inline bool watch_enter(void) {
    if (!watch_on || watch_inside)
        return false;
    watch_inside = true;
    return true;
}

/* MPI_SUCCESS; an error where COLL_WATCH=check finds that ranks don't make the same call. */
int watch_begin(watch_call *call);

/* Returns CODE, which the call has returned. */
int watch_end(watch_call *call, int code);

/* The same for MPI_Finalize, which is watched to its end, and for what has happened in MPI_Init. */
void watch_recorder_begin(uint64_t init_ticks);
watch_record *watch_recorder_finalize(void);

/* What all calls have taken together, up to now. */
typedef struct watch_totals {
    uint64_t calls, bytes, ticks;
} watch_totals;
watch_totals watch_recorder_totals(void);

#endif
