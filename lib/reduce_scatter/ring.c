/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring: each block travels once around the ring of the ranks, which add their own contributions,
 * and ends at its owner.
 *
 * The ranks are in chain order, so that every uplink is crossed by one message a turn in either
 * direction. Blocks move in segments: a rank forwards a segment as soon as it has received it and
 * added its contribution. A few segments of each block travel all the way around before the next
 * segments begin, since segments on their way are held only in scratch memory. A block is always
 * summed up around the ring, beginning with the rank behind its owner, so it has the same bits in
 * every run.
 *
 * Steps: p - 1 turns. Bytes: p - 1 blocks from every rank and to it, and over each uplink in either
 * direction. Memory: two windows of segments.
 * Source: Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations.
 */
#include "config.h"

#include "lib/plan/plan.h"
#include "lib/reduce_scatter/reduce_scatter.h"

/*
 * In turn T a rank handles the block T + 1 places before its own: some segments of it, one round
 * each. After P turns, the next segments follow.
 */
typedef struct ring_plan {
    coll_plan base;
    uint64_t side_by_side; /* segments of a block that travel together */
} ring_plan;

/* A rank forwards a segment in the turn in which it receives the segment; for the next rank this is
 * the next turn. */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const ring_plan *plan = (const ring_plan *)base;
    const coll_rank_order *line = plan->base.args->line;
    int p = plan->base.args->shape->topo->ranks, position = line->position,
        turn = (int)(round / plan->side_by_side % (uint64_t)p),
        block = (position - turn - 1 + p) % p;
    uint64_t some = plan->side_by_side, i = round / some / (uint64_t)p * some + round % some;
    size_t bytes = coll_plan_args_block(plan->base.args, plan->base.args->input, block),
           from = (size_t)i * base->size.segment;
    if (from >= bytes)
        return 0;
    size_t length = coll_segment_length(bytes, base->size.segment, i);
    int next = line->order[(position + 1) % p];
    if (turn == 0) {
        steps[0] = coll_step_send(next, from, length);
        steps[0].buffer = COLL_INPUT;
        steps[0].block = block;
        return 1;
    }
    steps[0] = coll_step_receive(line->order[(position + p - 1) % p], 0, length);
    steps[0].buffer = COLL_SCRATCH;
    steps[1] = coll_step_combine(COLL_INPUT, from, length, true, true);
    steps[1].block = block;
    coll_step_after(&steps[1], 0, 0);
    steps[2] = coll_step_send(next, 0, length);
    steps[2].buffer = COLL_SCRATCH;
    if (turn == p - 1)
        steps[2] = coll_step_copy(COLL_DATA, from, length, false);
    coll_step_after(&steps[2], 0, 1);
    return 3;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    const size_t longest = coll_blocks_longest(args->input);
    const coll_block_flow flow = coll_block_flow_of(args, longest);
    const uint64_t segments = coll_segment_count(longest, flow.segment);
    return (coll_plan_size){.window = 2 * (int)coll_least(flow.window, segments),
                            .steps = 3,
                            .segments = 1,
                            .segment = flow.segment,
                            .own_bytes = sizeof(ring_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    ring_plan *plan = memory;
    uint64_t some = (uint64_t)size.window / 2,
             times = coll_segment_count(
                 coll_segment_count(coll_blocks_longest(args->input), size.segment), some);
    *plan = (ring_plan){.base = coll_plan_of(args, size, 0, plan_round), .side_by_side = some};
    plan->base.rounds = times * (uint64_t)args->shape->topo->ranks * some;
    return &plan->base;
}

const coll_algorithm coll_reduce_scatter_ring = {
    .name = "ring",
    .summary = "blocks travel around the ring of the ranks and are added up",
    .params = {COLL_PARAM_SEGMENT("most bytes that are forwarded at a time", 32 << 10),
               COLL_PARAM_WINDOW("segments of a block in flight", 4)},
    .applicable = coll_order_is_free,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
