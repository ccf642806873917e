/*
 * Where the program's time goes: computation, collectives, point-to-point communication, which are
 * Tcomp, Tcoll and Tpoint of the paper "CDCP", section V.E; and what of the collectives dedicated
 * processors serve, or would serve if there were any, and how much of a processor the computation
 * had. Counted on the thread that initialised MPI, where COLL_TRACE asks; otherwise a call costs
 * one look at a flag.
 */
#ifndef COLL_CDCP_PMPI_ACCOUNT_H
#define COLL_CDCP_PMPI_ACCOUNT_H

#include <mpi.h>
#include <stdbool.h>

/* What a call does; generate.awk writes the names collective, point and neither. */
typedef enum coll_account_kind {
    COLL_ACCOUNT_collective,
    COLL_ACCOUNT_served,  /* a blocking collective such as dedicated processors serve */
    COLL_ACCOUNT_started, /* starts such a collective, or waits for it */
    COLL_ACCOUNT_point,
    COLL_ACCOUNT_neither /* counts as computation */
} coll_account_kind;

extern _Atomic bool coll_account_on;

/* The outermost of nested calls counts. Go through enter, leave and served. */
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

/* One more collective that a dedicated processor serves. */
static inline void coll_account_served(void) {
    if (coll_account_on)
        coll_account_one_served();
}

/*
 * REQUEST of the MPI library's is that of a nonblocking collective: waits for it count as
 * COLL_ACCOUNT_started. Where very many are under way some of these may be forgotten.
 */
void coll_account_note(MPI_Request request);

/* What a wait for REQUESTS of the MPI library's counts as; COMPLETES: all of them. */
static inline coll_account_kind coll_account_waiting(int count, const MPI_Request requests[],
                                                     bool completes) {
    return coll_account_on ? coll_account_look(count, requests, completes) : COLL_ACCOUNT_point;
}

/* Counts from now on, on this thread. Not collective. */
void coll_account_start(void);

/* Leaves out what comes until the next resume; MPI_Pcontrol. */
void coll_account_pause(void);
void coll_account_resume(void);

/*
 * Prints one line to stderr on rank 0 of WORLD: the times, in seconds and as means over its ranks,
 * and the numbers of calls, with DCPS dedicated processors beside them. Of Tcomp, Tcpu is what the
 * processor did; of Tcoll, Tserved and Tstarted are those kinds. Collective over WORLD; does
 * nothing where nobody has started to count.
 */
int coll_account_report(MPI_Comm world, int dcps);

#endif
