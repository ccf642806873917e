/* SPDX-License-Identifier: BSD-3-Clause */
/* What the plans of pairwise for blocks of equal and of unequal sizes share. */
#ifndef COLL_LIB_ALLTOALL_PAIRWISE_H
#define COLL_LIB_ALLTOALL_PAIRWISE_H

#include "lib/plan/plan.h"

/* AHEAD: rounds in flight in addition to the rounds of the window; so few that messages of several
 * ranks which share an uplink fit its buffer. ROUNDS_MOST: upper limit of the rounds in flight. */
enum { COLL_PAIRWISE_AHEAD = 4, COLL_PAIRWISE_ROUNDS_MOST = 256 };

/* Returns the bytes of a segment of long blocks. */
size_t coll_pairwise_segment(const coll_plan_args *args);

/* Returns the most segments that a rank has requested and not received. */
size_t coll_pairwise_window(const coll_plan_args *args);

/* Returns the most bytes of a block that is sent without a request: blocks of this length from all
 * ranks together fit the buffer of any switch port. */
size_t coll_pairwise_unasked(const coll_plan_args *args);

/* Returns a request for a block, or the receive of one. */
coll_step coll_pairwise_request(int peer, coll_step_kind kind);

/* Plan for blocks whose sizes differ by rank (pairwise_unequal.c). */
coll_plan_size coll_pairwise_unequal_size(const coll_plan_args *args);
coll_plan *coll_pairwise_unequal_plan(const coll_plan_args *args, coll_plan_size size,
                                      void *memory);

#endif
