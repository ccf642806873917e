/*
 * Makes one report at a time: gathers the states of all ranks, finds out what became of those that
 * don't answer, and writes it for the job or for coll-watch.
 */
#ifndef COLL_WATCH_REPORTER_H
#define COLL_WATCH_REPORTER_H

#include "watch/wire.h"

/* A rank's call lasts too long, or has failed. */
typedef struct watch_alarm {
    int32_t rank, failed;
    uint64_t age; /* ns */
    char text[160];
} watch_alarm;

/* False: no memory. */
bool watch_reporter_begin(void);
void watch_reporter_end(void);

/* A report for the job, unless what ALARM tells of is in one already. */
void watch_reporter_heed(const watch_alarm *alarm);

/* A report for coll-watch, which asks by LINE. */
void watch_reporter_told(watch_link *link, const char *line);

/* RANK has said that it ends with STATUS. */
void watch_reporter_left(int rank, int status);

/* Another watcher asks for this rank's state, for a report. */
void watch_reporter_seen(void);

/* Whether somebody makes a report, or has made one lately, that has a call of this AGE in it. */
bool watch_reporter_has(uint64_t age);

/* Goes on with the report. True: something may go on at once. */
bool watch_reporter_go_on(void);

#endif
