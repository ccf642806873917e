/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures how the program spends its time: in computation, collectives and point-to-point
 * communication, which are Tcomp, Tcoll and Tpoint of Sancho, Kerbyson and Barker, section V.E.
 * Also measures which part of the collectives dedicated processors serve, or would serve if there
 * were any, and how much processor time the computation had. Only the thread that initialised MPI
 * is measured, and only if COLL_TRACE asks for it. Otherwise a call costs a few checks of a flag.
 */
#ifndef COLL_CDCP_PMPI_ACCOUNT_H
#define COLL_CDCP_PMPI_ACCOUNT_H

#include <mpi.h>
#include <stdbool.h>

/* What a call does. generate.awk writes the names collective, point and neither. */
typedef enum coll_account_kind {
    COLL_ACCOUNT_collective,
    COLL_ACCOUNT_served,  /* a blocking collective that dedicated processors could serve */
    COLL_ACCOUNT_started, /* starts such a collective, or waits for it */
    COLL_ACCOUNT_point,
    COLL_ACCOUNT_neither /* counts as computation */
} coll_account_kind;

extern _Atomic bool coll_account_on;

/*
 * Only the outermost of nested calls counts. Instead of these functions, call coll_account_enter,
 * coll_account_leave, coll_account_served and coll_account_waiting.
 */
void coll_account_begin(void);
void coll_account_end(coll_account_kind kind);
void coll_account_one_served(void);
coll_account_kind coll_account_look(int count, const MPI_Request requests[], bool completes);

static inline void coll_account_enter(coll_account_kind kind) {
    if (coll_account_on && kind != COLL_ACCOUNT_neither)
        coll_account_begin();
}

static inline void coll_account_leave(coll_account_kind kind) {
    if (coll_account_on && kind != COLL_ACCOUNT_neither)
        coll_account_end(kind);
}

/* Counts one more collective that a dedicated processor serves. */
static inline void coll_account_served(void) {
    if (coll_account_on)
        coll_account_one_served();
}

/*
 * Notes that REQUEST, of the MPI library, belongs to a nonblocking collective: waits for it count
 * as COLL_ACCOUNT_started. An earlier request that is still under way may then be forgotten.
 */
void coll_account_note(MPI_Request request);

/*
 * Returns the kind of a call that waits for or tests REQUESTS of the MPI library. COMPLETES tells
 * whether the call completes all of them.
 */
static inline coll_account_kind coll_account_waiting(int count, const MPI_Request requests[],
                                                     bool completes) {
    return coll_account_on ? coll_account_look(count, requests, completes) : COLL_ACCOUNT_point;
}

/* Starts to measure, on this thread. Not collective. */
void coll_account_start(void);

/* Excludes the time until the next resume, for MPI_Pcontrol. */
void coll_account_pause(void);
void coll_account_resume(void);

/*
 * Prints one line to stderr on rank 0 of WORLD: the times, in seconds, and the numbers of calls, as
 * means over its ranks, with DCPS as the number of dedicated processors. Tcpu is the processor time
 * within Tcomp; Tserved and Tstarted are the parts of Tcoll in calls of the kinds
 * COLL_ACCOUNT_served and COLL_ACCOUNT_started. Collective over WORLD. Does nothing if the account
 * was not started.
 */
int coll_account_report(MPI_Comm world, int dcps);

#endif
