/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring: every block travels once around the ring of the ranks.
 *
 * 1. The ranks are in chain order, so that every uplink is crossed by one stream in either
 *    direction. A rank sends to the next one its own block, and then the blocks that it receives,
 *    in the order in which they arrive, except the next rank's own.
 * 2. All that arrives from the rank before is one stream of segments. A rank sends the same stream,
 *    delayed by the number of segments of its own block. Thus even a single long block passes
 *    through all ranks at once, segment by segment.
 *
 * Steps: p - 1 turns. Bytes: M - m from every rank and to it, for blocks of m bytes, M in all, and
 * as many over each uplink in either direction. Memory: two segments for each round of the window.
 * Source: the general ring algorithm; Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for
 * clusters of workstations, its second half.
 */
#include "config.h"

#include "lib/allgather/allgather.h"
#include "lib/plan/plan.h"

/*
 * Blocks are numbered from this rank's own, backwards along the line, in the order in which they
 * arrive.
 */
typedef struct ring_plan {
    coll_plan base;
    uint64_t own;     /* segments of this rank's block */
    uint64_t first[]; /* number of segments before each block; last entry: of all blocks */
} ring_plan;

/* Returns the position of the block that is BACK places before this rank's own. */
static int position_of(const coll_plan_args *args, int back) {
    int ranks = args->shape->topo->ranks;
    return (args->line->position - back + ranks) % ranks;
}

/* Returns the message with segment NUMBER of the stream that begins with this rank's own block. */
static coll_step segment_of(const ring_plan *plan, coll_step_kind kind, uint64_t number) {
    const coll_plan_args *args = plan->base.args;
    int back = coll_block_with(plan->first, args->shape->topo->ranks, number);
    int position = position_of(args, back),
        peer = position_of(args, kind == COLL_STEP_SEND ? -1 : 1);
    size_t bytes = coll_plan_args_block(args, args->blocks, position),
           segment = plan->base.size.segment;
    uint64_t i = number - plan->first[back];
    coll_step step = coll_step_message(kind, args->line->order[peer], (size_t)i * segment,
                                       coll_segment_length(bytes, segment, i));
    step.block = position;
    step.segment = kind == COLL_STEP_SEND;
    return step;
}

/* A rank sends all but the last block, and receives all but its own. */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const ring_plan *plan = (const ring_plan *)base;
    int ranks = plan->base.args->shape->topo->ranks, count = 0;
    bool receives = round < plan->first[ranks] - plan->own;
    if (receives)
        steps[count++] = segment_of(plan, COLL_STEP_RECEIVE, plan->own + round);
    if (round >= plan->first[ranks - 1])
        return count;
    steps[count] = segment_of(plan, COLL_STEP_SEND, round);
    if (round >= plan->own && plan->own < (uint64_t)base->size.window)
        coll_step_after(&steps[count], (int)plan->own, 0);
    return count + 1;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    const coll_block_flow flow = coll_block_flow_of(args, coll_blocks_longest(args->blocks));
    return (coll_plan_size){.window = (int)flow.window,
                            .steps = 2,
                            .segments = 2,
                            .segment = flow.segment,
                            .own_bytes = sizeof(ring_plan) +
                                         ((size_t)args->shape->topo->ranks + 1) * sizeof(uint64_t)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    int ranks = args->shape->topo->ranks;
    ring_plan *plan = memory;
    *plan = (ring_plan){.base = coll_plan_of(args, size, 0, plan_round)};
    plan->first[0] = 0;
    for (int back = 0; back < ranks; back++)
        plan->first[back + 1] =
            plan->first[back] +
            coll_segment_count(coll_plan_args_block(args, args->blocks, position_of(args, back)),
                               size.segment);
    plan->own = plan->first[1];
    uint64_t received = plan->first[ranks] - plan->own, sent = plan->first[ranks - 1];
    plan->base.rounds = received > sent ? received : sent;
    return &plan->base;
}

const coll_algorithm coll_allgather_ring = {
    .name = "ring",
    .summary = "blocks travel around the ring of the ranks; one stream crosses each uplink",
    .params = {COLL_PARAM_SEGMENT("most bytes that are forwarded at a time", 32 << 10),
               COLL_PARAM_WINDOW("segments in flight", 8)},
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
