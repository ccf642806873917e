/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/plan/staged_plan.h"

static const size_t segment_bytes = 1 << 20;
static const size_t window = 4;

coll_plan_size coll_staged_plan_size(size_t longest, int ranges) {
    return (coll_plan_size){.window =
                                (int)coll_least(window, coll_segment_count(longest, segment_bytes)),
                            .steps = ranges,
                            .segments = ranges,
                            .segment = coll_least(segment_bytes, longest),
                            .own_bytes = sizeof(coll_staged_plan)};
}

/* Fills STEPS with a step for each range of the turn that has a segment left. The last rounds of a
 * turn, past its last segment, are empty. */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_staged_plan *turns = (const coll_staged_plan *)base;
    coll_step whole[COLL_TURN_RANGES];
    int count = 0, ranges = turns->turn(turns, round / turns->rounds, whole);
    uint64_t i = round % turns->rounds;
    size_t from = (size_t)i * base->size.segment;
    for (int range = 0; range < ranges; range++) {
        if (from >= whole[range].length)
            continue;
        coll_step *step = &steps[count++];
        *step = whole[range];
        step->from += from;
        step->length = coll_segment_length(whole[range].length, base->size.segment, i);
        step->segment = range;
    }
    return count;
}

/* Each turn ends with window - 1 empty rounds, so that the next turn begins only when all its
 * segments are complete. */
coll_plan *coll_staged_plan_make(const coll_plan_args *args, coll_plan_size size, void *memory,
                                 size_t longest, uint64_t count, coll_turn *turn) {
    coll_staged_plan *turns = memory;
    uint64_t rounds = coll_segment_count(longest, size.segment) + (uint64_t)size.window - 1;
    *turns = (coll_staged_plan){.base = coll_plan_of(args, size, count * rounds, plan_round),
                                .rounds = rounds,
                                .turn = turn};
    return &turns->base;
}
