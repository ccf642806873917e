/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans made of turns: in each turn a rank sends and receives whole ranges, and the next turn
 * begins when all of them have been sent or received. Within a turn the ranges move concurrently,
 * in segments, of which a few are under way at a time.
 */
#ifndef COLL_LIB_PLAN_STAGED_PLAN_H
#define COLL_LIB_PLAN_STAGED_PLAN_H

#include "lib/plan/plan.h"

enum { COLL_TURN_RANGES = 48 }; /* most ranges of a turn */

typedef struct coll_staged_plan coll_staged_plan;

/* Writes TURN as a step for each whole range, and returns their number. */
typedef int coll_turn(const coll_staged_plan *plan, uint64_t turn, coll_step whole[]);

struct coll_staged_plan {
    coll_plan base;
    uint64_t rounds; /* of a turn */
    coll_turn *turn;
};

/* Returns the sizes of a plan whose turns move up to RANGES ranges, each of at most LONGEST bytes.
 */
coll_plan_size coll_staged_plan_size(size_t longest, int ranges);

/* Makes a plan of COUNT turns in MEMORY. No range has more than LONGEST bytes. */
coll_plan *coll_staged_plan_make(const coll_plan_args *args, coll_plan_size size, void *memory,
                                 size_t longest, uint64_t count, coll_turn *turn);

#endif
