/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * linear: every rank sends to all others at once. Many senders flood the ports of the switches, so
 * this is only a baseline for comparison.
 *
 * Steps: one. Bytes: (p - 1) m from every rank and to it, each block over the uplinks once. Memory:
 * two segments for each rank.
 */
#include "config.h"

#include "lib/alltoall/alltoall.h"
#include "lib/plan/plan.h"

/*
 * Sets *STEP to the message with segment I of the block to or from POSITION; returns false if there
 * is none.
 */
static bool segment_of(const coll_plan *plan, coll_step_kind kind, int position, uint64_t i,
                       coll_step *step) {
    const coll_plan_args *args = plan->args;
    bool sends = kind == COLL_STEP_SEND;
    size_t bytes = coll_plan_args_block(args, sends ? args->input : args->blocks, position),
           segment = plan->size.segment, from = (size_t)i * segment;
    if (from >= bytes)
        return false;
    *step = coll_step_message(kind, args->line->order[position], from,
                              coll_segment_length(bytes, segment, i));
    step->buffer = sends ? COLL_INPUT : COLL_DATA;
    step->block = position;
    step->segment = 2 * position + sends;
    return true;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    int ranks = base->args->shape->topo->ranks, own = base->args->line->position, count = 0;
    for (int away = 1; away < ranks; away++)
        count +=
            segment_of(base, COLL_STEP_RECEIVE, (own - away + ranks) % ranks, round, &steps[count]);
    for (int away = 1; away < ranks; away++)
        count += segment_of(base, COLL_STEP_SEND, (own + away) % ranks, round, &steps[count]);
    return count;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    int ranks = args->shape->topo->ranks;
    return (coll_plan_size){.window = 1,
                            .steps = 2 * (ranks - 1),
                            .segments = 2 * ranks,
                            .segment = coll_segment_within(
                                args->shape, args->values->at[COLL_SEGMENT], 2 * (size_t)ranks),
                            .own_bytes = sizeof(coll_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    size_t sent = coll_blocks_longest(args->input), received = coll_blocks_longest(args->blocks);
    return coll_plan_make(args, size, memory,
                          coll_segment_count(sent > received ? sent : received, size.segment),
                          plan_round);
}

const coll_algorithm coll_alltoall_linear = {
    .name = "linear",
    .summary = "all ranks send to all at once",
    .params = {COLL_PARAM_SEGMENT("most bytes of a block that are sent at a time", 64 << 10)},
    .rival = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
