/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usual_split_binary: represents Open MPI's split binary tree when the time of the library's own
 * broadcast is predicted; it is in no table.
 *
 * 1. The root sends one half of the message down the left half of a binary tree, and the other down
 *    the right one (lib/pattern/usualtree.h). In this tree the left half has the odd positions.
 * 2. Each odd position exchanges its half with the next position. If the last position is odd, it
 *    gets the other half from the root.
 *
 * Cost: for each level of the tree two messages of half of the data, and one more.
 * Source: Open MPI 4.1, coll_base_bcast.c.
 */
#include "config.h"

#include "lib/bcast/bcast.h"
#include "lib/pattern/usualtree.h"
#include "lib/plan/staged_plan.h"

enum { CHILDREN = 2 };

typedef struct split_plan {
    coll_staged_plan turns;
    int parent, partner; /* positions; -1: none */
    int count;           /* number of children */
    int child[COLL_USUAL_CHILDREN];
} split_plan;

/* Writes a step between this rank and the one at POSITION: of the left half of the data if LEFT,
 * else of the right half. */
static coll_step step_of(const split_plan *plan, bool receives, int position, bool left) {
    const coll_plan_args *args = plan->turns.base.args;
    const int peer = args->line->order[position];
    const size_t half = args->own / 2, from = left ? 0 : half,
                 length = left ? half : args->own - half;
    return receives ? coll_step_receive(peer, from, length) : coll_step_send(peer, from, length);
}

/* The turns are: receive from the parent, send to the children, exchange with the partner. */
static int plan_turn(const coll_staged_plan *turns, uint64_t turn, coll_step whole[]) {
    const split_plan *plan = (const split_plan *)turns;
    const int position = turns->base.args->line->position;
    const bool left = position % 2 == 1;
    int count = 0;
    if (turn == 0 && plan->parent >= 0)
        whole[count++] = step_of(plan, true, plan->parent, left);
    for (int i = 0; turn == 1 && i < plan->count; i++)
        whole[count++] =
            step_of(plan, false, plan->child[i], position ? left : plan->child[i] % 2 == 1);
    if (turn == 2 && plan->partner >= 0) {
        if (plan->partner > 0)
            whole[count++] = step_of(plan, false, plan->partner, left);
        if (position > 0)
            whole[count++] = step_of(plan, true, plan->partner, !left);
    }
    return count;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    coll_plan_size size = coll_staged_plan_size((args->own + 1) / 2, CHILDREN);
    size.own_bytes = sizeof(split_plan);
    return size;
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    enum { TURNS = 3 };
    const int ranks = args->shape->topo->ranks, position = args->line->position;
    split_plan *plan = memory;
    plan->count = coll_usual_binary(ranks, position, &plan->parent, plan->child);
    plan->partner = position % 2 == 1 ? (position + 1) % ranks : position - 1;
    if (position == 0 && ranks % 2 == 0)
        plan->partner = ranks - 1;
    return coll_staged_plan_make(args, size, memory, (args->own + 1) / 2, TURNS, plan_turn);
}

const coll_algorithm coll_bcast_usual_split_binary = {
    .name = "usual_split_binary",
    .summary = "halves of the message down the halves of a binary tree of MPI libraries",
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
