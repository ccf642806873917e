/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * linear: the root sends the whole message to every other rank, one after the other, in chain
 * order.
 *
 * Every other rack receives one copy of the message for each of its ranks, and the uplink of the
 * root's rack carries one copy for each rank outside that rack.
 *
 * The papers' "simple broadcasting", and the default of data-centric frameworks; here as a baseline
 * for comparison.
 *
 * Cost: p - 1 messages of one sender.
 * Source: Zhang and Qiu, section 3.2 and table 7.
 */
#include "config.h"

#include "lib/algorithm/rank_order.h"
#include "lib/bcast/bcast.h"
#include "lib/plan/staged_plan.h"

static int plan_turn(const coll_staged_plan *plan, uint64_t turn, coll_step whole[]) {
    const coll_plan_args *args = plan->base.args;
    const coll_rank_order *line = args->line;
    whole[0] = line->position == 0 ? coll_step_send(line->order[turn + 1], 0, args->own)
                                   : coll_step_receive(line->order[0], 0, args->own);
    return 1;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    return coll_staged_plan_size(args->own, 1);
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    int turns = args->line->position == 0 ? args->shape->topo->ranks - 1 : 1;
    return coll_staged_plan_make(args, size, memory, args->own, (uint64_t)turns, plan_turn);
}

const coll_algorithm coll_bcast_linear = {
    .name = "linear",
    .summary = "the root sends to each rank in turn",
    .rival = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
