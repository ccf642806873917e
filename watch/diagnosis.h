/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derives from the states of all ranks why they make no progress. Pure: no MPI, no clock. If
 * records are missing, ranks are assumed to be able to proceed. A finding proves a hang only if its
 * member HANGS is set.
 */
#ifndef COLL_WATCH_DIAGNOSIS_H
#define COLL_WATCH_DIAGNOSIS_H

#include "watch/record.h"

typedef enum watch_finding_kind {
    WATCH_MISMATCH, /* ranks make different calls as the same collective operation */
    WATCH_CYCLE,    /* ranks wait for one another */
    WATCH_UNSENT,   /* a receive without a matching send */
    WATCH_UNWANTED, /* a send without a matching receive */
    WATCH_ABSENT,   /* ranks wait for a rank that itself waits for nobody */
    WATCH_MISSING   /* a rank's process has ended, is stopped, or can't be reached */
} watch_finding_kind;

enum { WATCH_FINDINGS = 8, WATCH_SENTENCE = 1600 };

typedef struct watch_finding {
    watch_finding_kind kind;
    int rank;   /* the rank that TEXT names first */
    bool hangs; /* proves that a rank waits in vain, and not for a rank that computes */
    char text[WATCH_SENTENCE];
} watch_finding;

typedef struct watch_diagnosis {
    int count;
    watch_finding findings[WATCH_FINDINGS];
} watch_diagnosis;

/*
 * Diagnoses the STATES of RANKS ranks. Calls that have lasted for less than YOUNG nanoseconds are
 * assumed to end soon. Returns false if memory is short.
 */
bool watch_diagnose(const watch_state states[], int ranks, uint64_t young,
                    watch_diagnosis *diagnosis);

/* Returns whether a finding proves that the job hangs. */
bool watch_diagnosis_hangs(const watch_diagnosis *diagnosis);

/* Returns the name of KIND in JSON. */
const char *watch_finding_name(watch_finding_kind kind);

#endif
