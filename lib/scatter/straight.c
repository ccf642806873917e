/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * straight: the root sends each rank its block, in segments.
 *
 * The order alternates between both ends of the line, so the ranks of the root's own rack and those
 * of the farthest rack come first. The root's uplink is thus busy from the second block on, and the
 * blocks that stay within the rack are sent at the same time.
 *
 * Steps: p - 1 blocks, sent by the root one after the other. Bytes: the root
 * sends all blocks but its own; the uplink of its rack carries all blocks for other racks, and the
 * uplink of another rack the blocks of that rack. Memory: a window of segments.
 */
#include "config.h"

#include "lib/plan/plan.h"
#include "lib/scatter/scatter.h"

/* One round for each segment, block after block. */
typedef struct straight_plan {
    coll_plan base;
    /* at the root: the first round of the nth block to be sent; last entry: the number of rounds */
    uint64_t first[];
} straight_plan;

/* Returns the position to which the root sends its NTH block. */
static int nth_position(const coll_plan_args *args, int nth) {
    return nth % 2 ? args->shape->topo->ranks - 1 - nth / 2 : 1 + nth / 2;
}

static int send_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const straight_plan *plan = (const straight_plan *)base;
    const coll_plan_args *args = base->args;
    int nth = coll_block_with(plan->first, args->shape->topo->ranks - 1, round),
        position = nth_position(args, nth);
    uint64_t i = round - plan->first[nth];
    size_t bytes = coll_plan_args_block(args, args->input, position), segment = base->size.segment;
    steps[0] = coll_step_send(args->line->order[position], (size_t)i * segment,
                              coll_segment_length(bytes, segment, i));
    steps[0].buffer = COLL_INPUT;
    steps[0].block = position;
    return 1;
}

static int receive_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    coll_range what = coll_segment_at(base->args->own, base->size.segment, round);
    steps[0] = coll_step_receive(base->args->line->order[0], what.from, what.length);
    return 1;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    return (coll_plan_size){
        .window = (int)args->values->at[COLL_WINDOW],
        .steps = 1,
        .segments = 1,
        .segment = coll_segment_within(args->shape, args->values->at[COLL_SEGMENT],
                                       args->values->at[COLL_WINDOW]),
        .own_bytes = sizeof(straight_plan) + (size_t)args->shape->topo->ranks * sizeof(uint64_t)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    straight_plan *plan = memory;
    *plan = (straight_plan){
        .base =
            coll_plan_of(args, size, coll_segment_count(args->own, size.segment), receive_round)};
    if (!args->input)
        return &plan->base;
    int others = args->shape->topo->ranks - 1;
    plan->base.round = send_round;
    plan->first[0] = 0;
    for (int nth = 0; nth < others; nth++)
        plan->first[nth + 1] =
            plan->first[nth] +
            coll_segment_count(coll_plan_args_block(args, args->input, nth_position(args, nth)),
                               size.segment);
    plan->base.rounds = plan->first[others];
    return &plan->base;
}

const coll_algorithm coll_scatter_straight = {
    .name = "straight",
    .summary = "the root sends each block directly, to near and far ranks in turn",
    .params = {COLL_PARAM_SEGMENT("most bytes of a block that are sent at a time", 32 << 10),
               COLL_PARAM_WINDOW("segments in flight", 16)},
    .sizeless = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
