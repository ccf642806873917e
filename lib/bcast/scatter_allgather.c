/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scatter_allgather: the bucket algorithm; the classic choice for long messages.
 *
 * 1. The root sends block i to the rank at position i of the chain order.
 * 2. In p - 1 turns the blocks travel around the ring of positions: each rank sends the block that
 *    it received last, at first its own. The root receives nothing, since it has all blocks.
 *
 * Less than two copies enter a rack, and less than two leave it: some of the blocks in the first
 * step, and all but one around the ring.
 *
 * Cost: 2 (p - 1) (a + m B / p), where a block of m / p bytes takes a + m B / p: p - 1 messages of
 * the root, and p - 1 rounds of the ring, in which all ranks send at once.
 * Source: Zhang and Qiu, eq. 2 and table 3.
 */
#include "config.h"

#include "lib/algorithm/rank_order.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/block.h"
#include "lib/plan/staged_plan.h"

static coll_step whole_block(coll_step (*step)(int peer, size_t from, size_t length),
                             const coll_plan_args *args, int position, int block) {
    size_t bytes = args->own;
    int p = args->shape->topo->ranks;
    return step(args->line->order[position], coll_block_start(bytes, p, block),
                coll_block_length(bytes, p, block));
}

static int scatter_turns(const coll_plan_args *args) {
    return args->line->position == 0 ? args->shape->topo->ranks - 1 : 1;
}

static int scatter_turn(const coll_plan_args *args, int turn, coll_step whole[]) {
    int position = args->line->position;
    whole[0] = position == 0 ? whole_block(coll_step_send, args, turn + 1, turn + 1)
                             : whole_block(coll_step_receive, args, 0, position);
    return 1;
}

/* The root has all blocks: it sends around the ring but does not receive. */
static int allgather_turn(const coll_plan_args *args, int turn, coll_step whole[]) {
    int p = args->shape->topo->ranks, position = args->line->position, count = 0;
    int left = (position + p - 1) % p, right = (position + 1) % p;
    if (right)
        whole[count++] = whole_block(coll_step_send, args, right, (position + p - turn) % p);
    if (position)
        whole[count++] = whole_block(coll_step_receive, args, left, (left + p - turn) % p);
    return count;
}

static int plan_turn(const coll_staged_plan *plan, uint64_t turn, coll_step whole[]) {
    const coll_plan_args *args = plan->base.args;
    int scattered = scatter_turns(args), i = (int)turn;
    return i < scattered ? scatter_turn(args, i, whole)
                         : allgather_turn(args, i - scattered, whole);
}

static size_t longest_block(const coll_plan_args *args) {
    return coll_block_length(args->own, args->shape->topo->ranks, 0);
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    return coll_staged_plan_size(longest_block(args), 2);
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    int turns = scatter_turns(args) + args->shape->topo->ranks - 1;
    return coll_staged_plan_make(args, size, memory, longest_block(args), (uint64_t)turns,
                                 plan_turn);
}

const coll_algorithm coll_bcast_scatter_allgather = {
    .name = "scatter_allgather",
    .summary = "scatter a block to each rank, then pass the blocks around a ring",
    .rival = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
