/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers the states of many ranks over a tree. A watcher is asked for a range of ranks that begins
 * with its own. This watcher divides the other ranks into up to WATCH_FAN parts, asks the first
 * rank of each part in the same way, and takes its own rank's state. If a watcher doesn't answer,
 * the ranks that it would have asked are asked directly, so that a stopped or unreachable watcher
 * hides no other ranks. If watchers communicate through files, all are asked at once.
 */
#ifndef COLL_WATCH_GATHER_STATES_H
#define COLL_WATCH_GATHER_STATES_H

#include "watch/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WATCH_FAN = 16 };

/* COUNT ranks from FIRST on; after the last rank comes rank 0. */
typedef struct watch_range {
    int32_t first, count;
} watch_range;

/* A rank's packed state or, if BYTES is NULL, the reason why there is none. */
typedef struct watch_reply {
    char *bytes;
    size_t length;
    watch_silence silence;
    bool asked; /* the rank is among those that are asked */
} watch_reply;

/* Receives the results, indexed by rank. REPLIES is freed afterwards. */
typedef void watch_gathered(void *context, const watch_reply replies[]);

/*
 * Begins to gather the states of the ranks in COUNT disjoint RANGES, without stacks if SAMPLE.
 * ROUND is 0, or 1 if ranks that have not answered are asked again. DONE is called with CONTEXT at
 * the end. Returns false if too many such operations are under way, memory is short, or a question
 * to be asked through files can't be written.
 */
bool watch_gather_states_begin(const watch_range ranges[], int count, bool sample, int round,
                               watch_gathered *done, void *context);

/*
 * Advances all operations and calls `done` of those that are complete. Returns true if the caller
 * should call this function again without waiting.
 */
bool watch_gather_states_go_on(void);

/* Returns this rank's packed state, which the caller frees, or NULL. */
char *watch_gather_states_own(bool sample, size_t *length);

/* Answers another watcher's question for the states of a range; DATA is a watch_range. */
void watch_gather_states_answer(watch_link *link, bool sample, const void *data, size_t length);

#endif
