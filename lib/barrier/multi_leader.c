/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * multi_leader: all ranks of a node exchange messages with other nodes at the same time; for many
 * ranks per node.
 *
 * 1. The ranks of each node exchange messages in pairs, twice as far apart each time.
 * 2. In each round groups of k nodes (k is the radix) exchange messages: a node receives from the
 *    other k - 1 nodes, and its ranks divide the messages among themselves. Then the node's ranks
 *    notify each other in pairs. lib/plan/multi_leader.h defines the groups.
 *
 * Steps: log_k N between N nodes of P ranks; ceil(log2 P) inside a node before the first of these,
 * and again after each. All messages are empty; a node sends k - 1 in a round, up to twice as many
 * if groups differ in size.
 * Source: Bienz, Olson, Gropp: Node-aware improvements to allreduce, ExaMPI 2019, without the data.
 */
#include "config.h"

#include "lib/barrier/barrier.h"
#include "lib/plan/multi_leader.h"

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    coll_leaders_turn turn;
    int count = 0;
    coll_leaders_turn_at(&((const coll_leaders_plan *)base)->leaders, (int)round, &turn);
    for (int i = 0; i < turn.sends; i++)
        steps[count++] = coll_step_send(turn.to[i], 0, 0);
    for (int i = 0; i < turn.receives; i++)
        steps[count++] = coll_step_receive(turn.from[i], 0, 0);
    return count;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    return coll_leaders_plan_size(args, 0, 0, 0);
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_leaders_plan_make(args, size, memory, plan_round);
}

const coll_algorithm coll_barrier_multi_leader = {
    .name = "multi_leader",
    .summary = "all ranks of a node exchange messages with other nodes at the same time",
    .params = {COLL_PARAM_LEADERS(COLL_RADIX)},
    .applicable = coll_leaders_apply,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
