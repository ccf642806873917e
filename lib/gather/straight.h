/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plan of gathers in which every rank sends its block directly to the root, in segments. The
 * root receives sender by sender in chain order, with receives posted ahead. All ranks send at
 * once, or only SENDERS of them at a time: each sender starts another rank, with an empty message,
 * when its own block has been sent.
 */
#ifndef COLL_LIB_GATHER_STRAIGHT_H
#define COLL_LIB_GATHER_STRAIGHT_H

#include "lib/plan/plan.h"

typedef struct coll_straight {
    size_t segment; /* most bytes of a message, and of a round of the root */
    int window;     /* rounds of the root in flight */
    int together;   /* most messages that share a round of the root if they are short */
    int senders;    /* ranks that send at a time */
    /*
     * messages that each sender has in flight; at most COLL_STEP_AFTER, unless all ranks send at
     * once
     */
    int sends;
} coll_straight;

coll_plan_size coll_straight_size(const coll_plan_args *args, const coll_straight *how);
coll_plan *coll_straight_plan(const coll_plan_args *args, const coll_straight *how,
                              coll_plan_size size, void *memory);

#endif
