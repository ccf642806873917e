/*
 * The plan of gathers in which every rank sends its block straight to the root, in segments: the
 * root takes them sender by sender in chain order, with receives posted ahead. Either all ranks
 * send at once or some; each of those starts another one, by an empty message, when its block has
 * left.
 */
#ifndef COLL_LIB_GATHER_STRAIGHT_H
#define COLL_LIB_GATHER_STRAIGHT_H

#include "lib/schedule/plan.h"

typedef struct coll_straight {
    size_t segment; /* bytes a message, the last one of a block may be shorter; and a round's */
    int window;     /* rounds of the root */
    int together;   /* messages that share a round of the root where they are short, at most */
    int senders;    /* ranks that send at a time */
    int sends;      /* messages that each of them has under way; COLL_STEP_AFTER, or senders: all */
} coll_straight;

coll_plan_size coll_straight_size(const coll_part *part, const coll_straight *how);
coll_plan *coll_straight_plan(const coll_part *part, const coll_straight *how, coll_plan_size size,
                              void *memory);

#endif
