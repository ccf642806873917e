/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds who arrives last in collectives. The nth call on a communicator is the same event on all
 * its ranks. From the times at which the ranks enter and leave an event, on one clock, this splits
 * the ranks' time in calls into waiting for the last rank and transferring, and finds ranks or a
 * host that are late so often and by so much that this is no coincidence. Pure.
 */
#ifndef COLL_LIB_REPORT_ARRIVALS_H
#define COLL_LIB_REPORT_ARRIVALS_H

#include "lib/report/record.h"

#include <stdbool.h>
#include <stdint.h>

/* If there are fewer events than this, no rank or host is reported as late. */
enum { COLL_ARRIVALS_FEWEST = 20 };

typedef struct coll_arrivals coll_arrivals;

/*
 * Returns an empty collection, which the caller frees with coll_arrivals_free, or NULL if out of
 * memory. HOST[r] is the host of rank r in MPI_COMM_WORLD; the collection keeps a pointer to HOST.
 */
coll_arrivals *coll_arrivals_make(const int host[]);
void coll_arrivals_free(coll_arrivals *all);

/*
 * Adds the calls of SERIES, which rank RANK of MPI_COMM_WORLD has recorded. PARTS has an element
 * for each of these calls, with times on rank 0's clock. Returns false if out of memory; then ALL
 * is incomplete, and nothing is found.
 */
bool coll_arrivals_add(coll_arrivals *all, int rank, const coll_job_series *series,
                       const coll_recorded_call parts[]);

typedef enum coll_late {
    COLL_LATE_UNKNOWN, /* too few events, or the clocks are not exact enough */
    COLL_LATE_NOBODY,  /* no rank or host stands out */
    COLL_LATE_RANK,
    COLL_LATE_HOST,
    COLL_LATE_AT_TIMES, /* a rank, in few events, but by much */
    COLL_LATE_MOVES     /* one rank at a time, but not always the same */
} coll_late;

/* Findings from the events of one operation on the same ranks. */
typedef struct coll_lateness {
    coll_operation operation;
    int ranks;
    int events; /* number of events of which all ranks' arrivals are known */
    coll_late late;
    int who; /* the late rank in MPI_COMM_WORLD, or the late host; if nobody is late, the rank that
                was last most often; if work moves, 0 */
    double share;   /* fraction of the events in which WHO was last (at times: late) or, if work
                       moves, any rank was late */
    double seconds; /* median of the seconds by which WHO (if the work moves: the last rank) was
                       later than all others in these events */
    double lost;    /* s: the sum of these delays */
    int late_ranks; /* if the work moves: how many ranks are late in turn */
    double period;  /* s between the delays of a rank that is late at times; 0: irregular */
    bool waits;     /* no rank leaves before the last has entered: WAITING is valid */
    double inside, waiting; /* s, summed over all ranks: the time in these events, and the part of
                               it before the last rank entered */
} coll_lateness;

/*
 * Writes the findings to FOUND, in descending order of the time in their events, and returns their
 * number. If there are more than MOST, those with the least time are left out. ERROR is the error
 * between the clocks of different hosts, in seconds.
 */
int coll_arrivals_find(coll_arrivals *all, double error, coll_lateness found[], int most);

/*
 * Returns the rate by which one clock gains on another, as a fraction: APART[i] is how far it is
 * ahead at TIME[i], both in ns; TIME is in ascending order. The differences may have noise and
 * outliers. Returns 0 if there are fewer than 60 differences, if less than 2 s pass between the
 * middles of the first and the last third of them, if they are too noisy, or if the rate is above
 * 5e-4. Changes the order of APART.
 */
double coll_arrivals_drift(int count, const int64_t time[], double apart[]);

#endif
