/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that pairwise's plans for blocks of equal and of unequal sizes share. */
#ifndef COLL_LIB_ALLTOALL_PAIRWISE_H
#define COLL_LIB_ALLTOALL_PAIRWISE_H

#include "lib/plan/plan.h"

/* Returns the bytes of a segment of long blocks. */
size_t coll_pairwise_segment(const coll_plan_args *args);

/* Returns the most segments that a rank has requested and not received. */
size_t coll_pairwise_window(const coll_plan_args *args);

/* Returns the most bytes of a block that is sent without a request: blocks of this length from all
 * ranks together fit the buffer of any switch port. */
size_t coll_pairwise_unasked(const coll_plan_args *args);

/* Returns the rounds in flight in a stream. */
int coll_pairwise_rounds(const coll_plan_args *args);

/* The segment of a block that a round sends or receives. */
typedef struct coll_pairwise_part {
    int position; /* of the other rank; COLL_NOBODY if the round moves nothing */
    coll_range range;
    bool requested; /* it begins a block that needs a request */
} coll_pairwise_part;

/* Writes the receive of PART, if there is one, and the send of its request. Returns how many steps
 * these are; a request is the second one. */
int coll_pairwise_receive(const coll_plan_args *args, const coll_pairwise_part *part,
                          coll_step steps[]);

/* Writes the send of PART from segment 1, if there is one, and before it the receive of its
 * request. FIRST is the number of earlier steps of the round. Returns how many steps these are. */
int coll_pairwise_send(const coll_plan_args *args, const coll_pairwise_part *part, int first,
                       coll_step steps[]);

/* Plan for blocks whose sizes differ by rank (pairwise_unequal.c). */
coll_plan_size coll_pairwise_unequal_size(const coll_plan_args *args);
coll_plan *coll_pairwise_unequal_plan(const coll_plan_args *args, coll_plan_size size,
                                      void *memory);

#endif
