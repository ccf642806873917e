/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of a hang, for people and for programs: what each rank does, and why it makes no
 * progress.
 */
#ifndef COLL_WATCH_REPORT_H
#define COLL_WATCH_REPORT_H

#include "watch/diagnosis.h"

#include <stdio.h>

/* Ranks that do the same. The first of them represents the group. */
typedef struct watch_group {
    int first;
    bool one_partner;           /* their calls name the same partner */
    bool one_shift;             /* their partners are at the same distance from the calling rank */
    bool differ;                /* neither; occurs only if there would be too many groups to show */
    uint64_t shortest, longest; /* how long they have been doing it, in nanoseconds */
} watch_group;

typedef struct watch_report {
    const watch_state *states;
    int ranks;
    uint64_t young; /* calls that have lasted for fewer nanoseconds are assumed to end soon */
    int reporter;   /* the rank that makes the report */
    int failed;     /* the rank whose call has failed with the message FAILURE, or -1 */
    const char *failure;
    /* Set by watch_report_make: */
    watch_diagnosis diagnosis;
    watch_group *groups;
    int group_count;
    int *group_of; /* index into GROUPS of each rank */
} watch_report;

/* Fills in the diagnosis and the groups of REPORT. Returns false if memory is short. */
bool watch_report_make(watch_report *report);
void watch_report_free(watch_report *report);

void watch_report_print(FILE *stream, const watch_report *report);

/* Writes the report as one line of JSON. */
void watch_report_json(FILE *stream, const watch_report *report);

/* Writes a line per rank for coll-watch --top: numbers, followed by what the rank does. */
void watch_report_sample(FILE *stream, const watch_report *report);

#endif
