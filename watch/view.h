/*
 * What a diagnosis goes through: the states of all ranks, and what is concluded of them on the way.
 */
#ifndef COLL_WATCH_VIEW_H
#define COLL_WATCH_VIEW_H

#include "watch/diagnosis.h"
#include "watch/words.h"

/* How sure it is that a rank waits for another; 0: it isn't known to. */
enum { WATCH_PERHAPS = 1, WATCH_SURELY };

/* What a rank's state means for those that wait for it. */
typedef enum watch_condition {
    WATCH_MOVING,  /* it may go on: its call is young, or has all that it needs, or isn't understood
                    */
    WATCH_WAITING, /* for all that its row in WAITS names, or, with ANY, for any of them */
    WATCH_OUTSIDE, /* in no call */
    WATCH_FINISHED, /* in MPI_Finalize */
    WATCH_LOST      /* its process has ended, is stopped, or its host doesn't answer */
} watch_condition;

typedef struct watch_view {
    const watch_state *states;
    int ranks;
    uint64_t young;
    watch_condition *conditions;
    bool *any;            /* with WATCH_WAITING */
    bool *stuck;          /* it never goes on by itself */
    unsigned char *waits; /* [rank * ranks + other] */
    watch_diagnosis *out;
} watch_view;

/* A new finding about RANK, whose text *TEXT writes; NULL: there are enough. */
watch_finding *watch_view_add(watch_view *v, watch_finding_kind kind, int rank, watch_text *text);

/* The only open call of RANK, or NULL. */
const watch_record *watch_view_call(const watch_view *v, int rank);

/* "MPI_Recv from rank 1, tag 7, on ...", "MPI_Barrier, the 3rd collective on ...": what RANK is in.
 */
void watch_view_say(const watch_view *v, watch_text *text, int rank);

/*
 * Ranks that make different calls as the same collective, the first on each communicator: what
 * follows is its consequence. False: no memory.
 */
bool watch_view_find_mismatches(watch_view *v);

/* Who waits for whom, and who can't go on: fills in CONDITIONS, ANY, STUCK and WAITS. */
void watch_view_find_waits(watch_view *v);

/* Messages of RANK's that have no partner, but near misses. */
void watch_view_find_unmatched(watch_view *v, int rank);

/* Ranks that wait for one another, or one for itself. */
void watch_view_find_cycles(watch_view *v);

/* RANK, where others wait for it and it waits for nobody, or is lost. False: no memory. */
bool watch_view_find_absent(watch_view *v);

#endif
