/* What people and programs read of a hang: who does what, and why it doesn't go on. */
#ifndef COLL_WATCH_REPORT_H
#define COLL_WATCH_REPORT_H

#include "watch/diagnosis.h"

#include <stdio.h>

/* Ranks that do the same; the first of them stands for all. */
typedef struct watch_group {
    int first, count;
    bool one_partner; /* their calls name the same rank, */
    bool one_shift;   /* or the rank at the same distance from their own, */
    bool differ;      /* or they have different arguments: only if there are many groups */
    uint64_t shortest, longest; /* for how long, in nanoseconds */
} watch_group;

typedef struct watch_report {
    const watch_state *states;
    int ranks;
    uint64_t young; /* calls that have lasted for less, in nanoseconds, may be about to end */
    int reporter;   /* the rank that reports */
    int failed;     /* the rank whose call has failed with FAILURE, or -1 */
    const char *failure;
    /* Made by watch_report_make: */
    watch_diagnosis diagnosis;
    watch_group *groups;
    int group_count;
    int *group_of; /* by rank */
} watch_report;

/* False: no memory. */
bool watch_report_make(watch_report *report);
void watch_report_free(watch_report *report);

void watch_report_print(FILE *stream, const watch_report *report);

/* One line. */
void watch_report_json(FILE *stream, const watch_report *report);

/* For coll-watch --top: a line for each rank, of numbers and, behind them, what it does. */
void watch_report_sample(FILE *stream, const watch_report *report);

#endif
