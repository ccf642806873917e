/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cursor executes a plan's dependencies: it returns the steps that may start, and its caller
 * reports which steps are complete. The engine and the simulator both use it. A start and a
 * completion cost O(1); memory is proportional to the window. No MPI.
 */
#ifndef COLL_LIB_PLAN_CURSOR_H
#define COLL_LIB_PLAN_CURSOR_H

#include "lib/plan/plan.h"

/* A step of a round that is under way. */
typedef struct coll_node {
    coll_step step;
    uint64_t round;
    int waits; /* number of steps that this step waits for */
    bool started, complete;
    uint64_t older;            /* next entry in the hash chain of message_before; 0: none */
    int on_start, on_complete; /* heads of the lists of steps that wait for this step's start or
                                  completion; -1: none */
} coll_node;

typedef struct coll_cursor {
    const coll_plan *plan;
    /* by stream: the oldest round under way, and the first that has not begun */
    uint64_t first[COLL_STREAMS_MOST], next[COLL_STREAMS_MOST];
    coll_node *nodes; /* the nodes of round r begin at r % window * steps */
    coll_step *steps; /* scratch for one round */
    uint64_t *latest; /* hash tables of messages, by direction, lane and peer; stream s has the
                         entries whose index modulo the number of streams is s */
    int *left;        /* by round under way: number of steps that are not complete */
    int *fence, *end; /* by round under way: the first step with after_earlier, and the step behind
                         the last such step */
    int *links;       /* links of the lists of waiting steps: LINKS for each node */
    int *ready;       /* ring buffer of the nodes that may start */
    int ready_first, ready_count;
} coll_cursor;

/* Returns the bytes of memory for a cursor over plans of SIZE. */
size_t coll_cursor_bytes(const coll_plan_size *size);

/* Opens CURSOR for PLAN in MEMORY of coll_cursor_bytes, which must be aligned for any type. */
void coll_cursor_open(coll_cursor *cursor, const coll_plan *plan, void *memory);

/* Begins the plan; may be called again when it has ended. */
void coll_cursor_begin(coll_cursor *cursor);

/* Returns the next step to start, and sets *NODE to its number. Returns NULL if the plan has ended,
 * or if no step can start before another step is complete. */
const coll_node *coll_cursor_start(coll_cursor *cursor, int *node);

/* Marks step NODE complete. When all steps of a round and of all earlier rounds are complete, a
 * later round may use the round's segments. */
void coll_cursor_complete(coll_cursor *cursor, int node);

/* Returns whether all steps of all rounds are complete. A completion counts only after the next
 * coll_cursor_start. */
bool coll_cursor_ended(const coll_cursor *cursor);

#endif
