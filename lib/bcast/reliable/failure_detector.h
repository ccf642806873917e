/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failure detection by the root of a confirmed broadcast: when the root last heard from each rank,
 * and each rank's progress. Pure: the caller supplies the time (in seconds).
 */
#ifndef COLL_LIB_BCAST_RELIABLE_FAILURE_DETECTOR_H
#define COLL_LIB_BCAST_RELIABLE_FAILURE_DETECTOR_H

#include "lib/bcast/reliable/diagnosis.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A rank's progress. */
typedef struct coll_account {
    uint64_t epoch;  /* the attempt in which the rank takes part */
    uint64_t passed; /* segments of that attempt that the rank has */
    uint64_t taken;  /* messages received in all attempts */
} coll_account;

typedef struct coll_failure_detector {
    int root, ranks;
    double begun;           /* when the attempt began */
    double progress;        /* when any rank last made progress */
    double *heard;          /* when each rank was last heard from */
    coll_account *accounts; /* each rank's progress, as last reported */
} coll_failure_detector;

/* Returns the bytes of memory that a detector needs. */
size_t coll_failure_detector_bytes(int ranks);

/*
 * Initializes *DETECTOR at time 0, when the first attempt begins; all ranks count as heard from.
 * MEMORY, aligned for any type, belongs to the caller.
 */
void coll_failure_detector_open(coll_failure_detector *detector, void *memory, int root, int ranks);

/* Records that RANK's ACCOUNT arrived at time NOW. */
void coll_failure_detector_report(coll_failure_detector *detector, int rank,
                                  const coll_account *account, double now);

/* Records that a new attempt begins at time NOW. */
void coll_failure_detector_begin(coll_failure_detector *detector, double now);

/*
 * Returns whether this attempt has stalled: for more than LIMIT seconds no rank has made progress,
 * or the attempt has lasted for more than LIMIT seconds and some rank other than the root has been
 * silent for as long.
 */
bool coll_failure_detector_stalls(const coll_failure_detector *detector, double now, double limit);

/*
 * Diagnoses why the attempt EPOCH, with the chain in ORDER, has stalled: because of the rank that
 * has been silent longest, if this is more than LIMIT seconds; else because of the last link of the
 * chain whose receiver has made less progress than its sender (the first link if there is none).
 */
coll_diagnosis coll_failure_detector_diagnose(const coll_failure_detector *detector,
                                              const int order[], uint32_t epoch, double now,
                                              double limit);

#endif
