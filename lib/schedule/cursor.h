/*
 * Goes through a plan: says which steps may start now, and learns which are complete. Everything
 * that plays a plan, in earnest or not, does so by a cursor. A start and a completion cost O(1),
 * and memory is the window's. No MPI.
 */
#ifndef COLL_LIB_SCHEDULE_CURSOR_H
#define COLL_LIB_SCHEDULE_CURSOR_H

#include "lib/schedule/plan.h"

/* A step of a round that is under way. */
typedef struct coll_node {
    coll_step step;
    uint64_t round;
    int waits; /* for so many others */
    bool started, complete;
    uint64_t older;            /* see message_before */
    int on_start, on_complete; /* the first link to a step that waits for this one; -1: none */
} coll_node;

typedef struct coll_cursor {
    const coll_plan *plan;
    uint64_t first, next; /* the oldest round under way, and the first that has not begun */
    coll_node *nodes;     /* those of round r begin at r % window * steps */
    coll_step *steps;     /* scratch for one round */
    uint64_t *latest;     /* messages by direction, lane and peer */
    int *left;            /* of the rounds under way: steps that are not complete */
    int *fence, *end;     /* of those rounds: the first step that comes after all before it, and
                             the one behind the last of these */
    int *links;           /* of each node, for each step that it waits for: the next such link */
    int *ready;           /* a queue of nodes that may start */
    int ready_first, ready_count;
} coll_cursor;

/* The memory that a cursor over plans of SIZE needs. */
size_t coll_cursor_bytes(const coll_plan_size *size);

/* Sets CURSOR up for PLAN in so much MEMORY, which is aligned for any type. */
void coll_cursor_open(coll_cursor *cursor, const coll_plan *plan, void *memory);

/* Begins the plan, also anew. */
void coll_cursor_begin(coll_cursor *cursor);

/* The next step to start, whose number goes to *NODE; NULL until another one is complete. */
const coll_node *coll_cursor_start(coll_cursor *cursor, int *node);

/* Step NODE is complete. Its round may be over then, and its segments in use again. */
void coll_cursor_complete(coll_cursor *cursor, int node);

/* Whether all steps of all rounds are complete. */
bool coll_cursor_ended(const coll_cursor *cursor);

#endif
