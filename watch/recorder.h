/* SPDX-License-Identifier: BSD-3-Clause */
/* Records the program's calls in the ring; called by the entry points (entries.c.in). */
#ifndef COLL_WATCH_RECORDER_H
#define COLL_WATCH_RECORDER_H

#include "watch/communicators.h"
#include "watch/record.h"

#include <mpi.h>
#include <stdbool.h>

/* Arguments of a call, by their meaning. Arguments that the call doesn't have are 0. */
typedef struct watch_call {
    int id; /* index into watch_calls */
    void *caller;
    MPI_Comm comm;
    int peer, tag;      /* root or destination; tag, in an exchange that of the send */
    int from, from_tag; /* source; tag of an exchange's receive */
    int count, from_count;
    MPI_Datatype type, from_type;
    const int *counts;
    MPI_Op op;
    MPI_Request *request;  /* the request that the call creates */
    MPI_Request *requests; /* the COUNT requests that the program passes to the call */
    MPI_Comm *made, *freed;
    MPI_Datatype *freed_type;
    const char *name;
    const void *sendbuf; /* of MPI_Allreduce only */
    void *recvbuf;
    /* Set by watch_begin: */
    watch_record *record;
    watch_comm *place;
    bool done; /* COLL_WATCH=check has completed the call together with its comparison */
} watch_call;

extern bool watch_on;
extern _Thread_local bool watch_inside __attribute__((tls_model("initial-exec")));

/*
 * Returns whether a call is to be recorded: recording is on, and the program itself makes the call.
 * If true, watch_end must follow.
 */
static inline bool watch_enter(void) {
    if (!watch_on || watch_inside)
        return false;
    watch_inside = true;
    return true;
}

/*
 * Records the beginning of CALL. Returns MPI_SUCCESS, or an error if COLL_WATCH=check finds that
 * the ranks make different calls.
 */
int watch_begin(watch_call *call);

/* Records the end of CALL, which has returned CODE. Returns CODE. */
int watch_end(watch_call *call, int code);

/* Records MPI_Init, which began at INIT_TICKS and has just ended. */
void watch_recorder_begin(uint64_t init_ticks);

/* Records the beginning of MPI_Finalize. Returns its record, in which the caller sets the end. */
watch_record *watch_recorder_finalize(void);

/* Totals of all calls that have ended so far. */
typedef struct watch_totals {
    uint64_t calls, bytes, ticks;
} watch_totals;
watch_totals watch_recorder_totals(void);

#endif
