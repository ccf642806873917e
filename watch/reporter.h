/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes one report at a time: gathers the states of all ranks, finds out why some don't answer, and
 * writes the report for the job or for coll-watch.
 */
#ifndef COLL_WATCH_REPORTER_H
#define COLL_WATCH_REPORTER_H

#include "watch/wire.h"

/* Announces that RANK's call lasts too long or has failed. */
typedef struct watch_alarm {
    int32_t rank, failed;
    uint64_t age; /* ns */
    char text[160];
} watch_alarm;

/* Allocates the reporter's data. Returns false if memory is short. */
bool watch_reporter_begin(void);
void watch_reporter_end(void);

/*
 * Begins a report for the job, or uses the report that is being made, unless an earlier report for
 * the job already covers ALARM.
 */
void watch_reporter_heed(const watch_alarm *alarm);

/* Begins a report for coll-watch, whose request is LINE, or uses the report that is being made. */
void watch_reporter_told(watch_link *link, const char *line);

/* Notes that RANK has announced that it exits with STATUS. */
void watch_reporter_left(int rank, int status);

/* Notes that another watcher has asked for this rank's state, for a report. */
void watch_reporter_seen(void);

/*
 * Returns whether another watcher has asked for this rank's state so recently that its report
 * covers a call of this AGE, in nanoseconds.
 */
bool watch_reporter_has(uint64_t age);

/* Advances the report. Returns true if the report can advance further at once. */
bool watch_reporter_go_on(void);

#endif
