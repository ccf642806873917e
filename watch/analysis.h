/* SPDX-License-Identifier: BSD-3-Clause */
/* Working data of a diagnosis: the states of all ranks, and what has been concluded from them. */
#ifndef COLL_WATCH_ANALYSIS_H
#define COLL_WATCH_ANALYSIS_H

#include "watch/diagnosis.h"
#include "watch/format.h"

/* How certain it is that a rank waits for another; 0 if nothing shows that it does. */
enum { WATCH_PERHAPS = 1, WATCH_SURELY };

/* What a rank's state means for the ranks that wait for it. */
typedef enum watch_condition {
    /* it may proceed: its call is young, has all that it needs, or is not understood */
    WATCH_MOVING,
    /* it waits for all ranks in its row of WAITS or, with ANY, for any one of them */
    WATCH_WAITING,
    WATCH_OUTSIDE,  /* it is in no MPI call */
    WATCH_FINISHED, /* it is in MPI_Finalize */
    WATCH_LOST      /* its process has ended, is stopped, or its host doesn't answer */
} watch_condition;

typedef struct watch_analysis {
    const watch_state *states;
    int ranks;
    uint64_t young;
    watch_condition *conditions;
    bool *any;            /* with WATCH_WAITING: one of the ranks in its row of WAITS is enough */
    bool *stuck;          /* lost, in MPI_Finalize, or proceeds only if another stuck rank does */
    unsigned char *waits; /* how certainly RANK waits for OTHER, at [rank * ranks + other] */
    watch_diagnosis *out;
} watch_analysis;

/*
 * Adds a finding about RANK. The caller then writes its text to *TEXT. HANGS says whether the
 * finding proves that a rank waits in vain. Returns NULL if there are enough findings.
 */
watch_finding *watch_analysis_add(watch_analysis *v, watch_finding_kind kind, int rank, bool hangs,
                                  watch_text *text);

/* Returns the only open call of RANK, or NULL if there is none or more than one. */
const watch_record *watch_analysis_call(const watch_analysis *v, int rank);

/*
 * Writes the open call of RANK: "MPI_Recv from rank 1, tag 7, on ...", "MPI_Barrier, the 3rd
 * collective on ...".
 */
void watch_analysis_append_call(const watch_analysis *v, watch_text *text, int rank);

/*
 * Reports ranks that make different calls as the same collective; on each communicator only the
 * first such collective, since later mismatches may be its consequences. Returns false if memory is
 * short.
 */
bool watch_analysis_find_mismatches(watch_analysis *v);

/*
 * Determines which ranks wait for which others, and which can't proceed: fills in CONDITIONS, ANY,
 * STUCK and WAITS.
 */
void watch_analysis_find_waits(watch_analysis *v);

/* Reports messages that RANK waits for in vain, if there are near misses. */
void watch_analysis_find_unmatched(watch_analysis *v, int rank);

/* Reports ranks that wait for one another in a cycle, or for themselves. */
void watch_analysis_find_cycles(watch_analysis *v);

/*
 * Reports ranks that others wait for and that wait for nobody, and lost ranks. Returns false if
 * memory is short.
 */
bool watch_analysis_find_absent(watch_analysis *v);

#endif
