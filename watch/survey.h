/*
 * States of many ranks, gathered as a tree. A watcher that is asked for a range of ranks, of which
 * its own is the first, asks the first ranks of up to WATCH_FAN parts of the others, which do the
 * same, and takes its own state. Where a watcher doesn't answer, those that it would have asked are
 * asked directly: one that is stopped or away hides no others. Where watchers talk by files, all
 * are asked at once.
 */
#ifndef COLL_WATCH_SURVEY_H
#define COLL_WATCH_SURVEY_H

#include "watch/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WATCH_FAN = 16 };

/* COUNT ranks from FIRST on; rank 0 follows the last one. */
typedef struct watch_range {
    int32_t first, count;
} watch_range;

/* What came from a rank: its packed state, or, where BYTES is NULL, why not. */
typedef struct watch_part {
    char *bytes;
    size_t length;
    watch_silence silence;
    bool asked; /* it is one of the survey's */
} watch_part;

/* Takes what came from each of all ranks; PARTS is freed afterwards. */
typedef void watch_surveyed(void *of, const watch_part parts[]);

/*
 * Begins to gather the states of COUNT disjoint RANGES, in ROUND 0, or, of those that have not
 * answered, in ROUND 1; SAMPLE: without stacks. False: too many are gathered at a time, or no
 * memory.
 */
bool watch_survey_begin(const watch_range ranges[], int count, bool sample, int round,
                        watch_surveyed *done, void *of);

/* Goes on with all surveys; `done` is called from here. True: something may go on at once. */
bool watch_survey_go_on(void);

/* This rank's state, packed, which the caller frees, or NULL. */
char *watch_survey_own(bool sample, size_t *length);

/* Answers another watcher's question for the states of a range; DATA is its watch_range. */
void watch_survey_answer(watch_link *link, bool sample, const void *data, size_t length);

#endif
