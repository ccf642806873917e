/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usual_linear and usual_doubling: Open MPI's algorithms, for predicting its time and the time at
 * which each rank leaves, when the rank's next call can begin.
 *
 * - linear: all ranks send to the first, which then sends to all. The first rank leaves before the
 *   others, so a broadcast that it begins next reaches them when they leave.
 * - doubling: pairs of ranks exchange messages, twice as far apart each time. Ranks beyond the
 *   largest power of two first send to one of the others, which answers in the end.
 *
 * All messages are empty. Steps: linear 2 (the first rank receives p - 1 messages, then sends as
 * many); doubling floor(log2 p), and 2 more if p is not a power of two. Source: coll_base_barrier.c
 * of Open MPI 4.1.
 */
#include "config.h"

#include "lib/barrier/barrier.h"
#include "lib/pattern/binomial.h"

static coll_step to(const coll_plan_args *args, int position) {
    return coll_step_send(args->line->order[position], 0, 0);
}

static coll_step from(const coll_plan_args *args, int position) {
    return coll_step_receive(args->line->order[position], 0, 0);
}

/* A window of 1: a round begins when the one before is complete. */
static coll_plan_size size_of(int steps) {
    return (coll_plan_size){
        .window = 1, .steps = steps, .segments = 1, .own_bytes = sizeof(coll_plan)};
}

/* --- linear --- */

enum { ARRIVALS, DEPARTURES, LINEAR_ROUNDS };

static int linear_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_plan_args *args = base->args;
    const int others = args->shape->topo->ranks - 1;
    if (args->line->position > 0) {
        steps[0] = round == ARRIVALS ? to(args, 0) : from(args, 0);
        return 1;
    }
    for (int i = 0; i < others; i++)
        steps[i] = round == ARRIVALS ? from(args, i + 1) : to(args, i + 1);
    return others;
}

static coll_plan_size linear_size(const coll_plan_args *args) {
    return size_of(args->shape->topo->ranks - 1);
}

static coll_plan *linear_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_plan_make(args, size, memory, LINEAR_ROUNDS, linear_round);
}

/* --- doubling --- */

static int doubling_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_plan_args *args = base->args;
    const int ranks = args->shape->topo->ranks, own = args->line->position,
              exchanges = coll_tree_doublings(ranks), power = 1 << exchanges, more = ranks - power,
              nth = (int)round - (more > 0);
    if (nth >= 0 && nth < exchanges) {
        if (own >= power)
            return 0;
        steps[0] = to(args, own ^ 1 << nth);
        steps[1] = from(args, own ^ 1 << nth);
        return 2;
    }
    const bool first = nth < 0;
    if (own >= power)
        steps[0] = first ? to(args, own - power) : from(args, own - power);
    else if (own < more)
        steps[0] = first ? from(args, own + power) : to(args, own + power);
    return own >= power || own < more;
}

static coll_plan_size doubling_size(const coll_plan_args *args) {
    (void)args;
    return size_of(2);
}

static coll_plan *doubling_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    const int ranks = args->shape->topo->ranks, exchanges = coll_tree_doublings(ranks);
    return coll_plan_make(args, size, memory,
                          (uint64_t)exchanges + (ranks > 1 << exchanges ? 2 : 0), doubling_round);
}

const coll_algorithm coll_barrier_usual_linear = {
    .name = "usual_linear",
    .summary = "all ranks send to the first, which then sends to all",
    .planner = &(const coll_planner){.size = linear_size, .plan = linear_plan},
};

const coll_algorithm coll_barrier_usual_doubling = {
    .name = "usual_doubling",
    .summary = "pairs of ranks exchange messages, twice as far apart each time",
    .planner = &(const coll_planner){.size = doubling_size, .plan = doubling_plan},
};
