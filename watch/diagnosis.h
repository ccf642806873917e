/*
 * What the states of all ranks prove about why they don't go on. Pure: no MPI, no clock. Nothing is
 * said that could be otherwise: where records are missing, it is silent.
 */
#ifndef COLL_WATCH_DIAGNOSIS_H
#define COLL_WATCH_DIAGNOSIS_H

#include "watch/record.h"

typedef enum watch_finding_kind {
    WATCH_MISMATCH, /* ranks make different calls as the same collective */
    WATCH_CYCLE,    /* ranks wait for one another */
    WATCH_UNSENT,   /* a receive that nobody sends to */
    WATCH_UNWANTED, /* a send that nobody receives */
    WATCH_ABSENT,   /* others wait for a rank that waits for nobody */
    WATCH_MISSING   /* a rank's process has ended, is stopped, or can't be reached */
} watch_finding_kind;

enum { WATCH_FINDINGS = 8, WATCH_SENTENCE = 1600 };

typedef struct watch_finding {
    watch_finding_kind kind;
    int rank; /* the one that is named first */
    char text[WATCH_SENTENCE];
} watch_finding;

typedef struct watch_diagnosis {
    int count;
    watch_finding findings[WATCH_FINDINGS];
} watch_diagnosis;

/*
 * Judges the STATES of RANKS ranks. Calls that have lasted for less than YOUNG nanoseconds may be
 * about to end. False: no memory.
 */
bool watch_diagnose(const watch_state states[], int ranks, uint64_t young,
                    watch_diagnosis *diagnosis);

/* The name of KIND in JSON. */
const char *watch_finding_name(watch_finding_kind kind);

#endif
