/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain: sums go up the line of the ranks, to its head, and the results come down again; for large
 * data and operations that don't commute.
 *
 * The data moves in segments. Each rank adds its own data to the sum from the rank behind it, sends
 * the result to the rank before it, and forwards the results that come back. The rank at position i
 * sends segment s of the sums when it receives segment s - 2 i of the results, so that few segments
 * are in flight, although the way up and down is long. Operands are combined in the order of the
 * line.
 *
 * Steps: 2 (p - 1) for a segment. Bytes: 2 m from every rank and to it, and over each uplink in
 * either direction. Memory: three segments for each round of the window.
 * Source: Sanders, Speck, Traeff: Two-tree algorithms for full bandwidth broadcast, reduction and
 * scan, which compares its algorithm with such pipelines.
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/plan/tuned.h"

/* fewest rounds of the window: a rank receives a result two rounds later than the rank before it */
enum { FEWEST = 3 };

enum { ADDED, SENT, PASSED, SEGMENTS }; /* segments of a round's memory */

typedef struct chain_plan {
    coll_plan base;
    int before, behind;     /* the neighbours in the line; -1: none */
    uint64_t segments, lag; /* LAG: rounds from a segment's sum to its result */
} chain_plan;

static coll_range range_of(const chain_plan *plan, uint64_t i) {
    return coll_segment_at(plan->base.args->shape->bytes, plan->base.size.segment, i);
}

/* Writes the steps that add this rank's data to the sum from behind and send the result on. */
static int send_sums_up(const chain_plan *plan, coll_range what, coll_step steps[]) {
    int count = 0;
    if (plan->behind >= 0) {
        steps[0] = coll_step_receive(plan->behind, what.from, what.length);
        steps[0].buffer = COLL_SCRATCH;
        steps[1] = coll_step_combine(COLL_DATA, what.from, what.length, false, false);
        coll_step_after(&steps[1], 0, 0);
        count = 2;
    }
    if (plan->before >= 0) {
        steps[count] = coll_step_send(plan->before, what.from, what.length);
        steps[count].segment = SENT;
        coll_step_after(&steps[count], 0, count - 1);
        count++;
    }
    return count;
}

/*
 * Writes the steps that receive a segment's result and forward it, after COUNT steps of the sums in
 * the same round.
 */
static int send_results_down(const chain_plan *plan, coll_range what, coll_step steps[],
                             int count) {
    if (plan->before >= 0) {
        steps[count] = coll_step_receive(plan->before, what.from, what.length);
        steps[count].segment = PASSED;
        /* the sum was sent from the same memory */
        if (plan->lag < (uint64_t)plan->base.size.window)
            coll_step_after(&steps[count], (int)plan->lag, plan->behind < 0 ? 0 : 2);
        count++;
    }
    if (plan->behind >= 0) {
        steps[count] = coll_step_send(plan->behind, what.from, what.length);
        steps[count].segment = PASSED;
        coll_step_after(&steps[count], 0, count - 1);
        count++;
    }
    return count;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const chain_plan *plan = (const chain_plan *)base;
    int count = round < plan->segments ? send_sums_up(plan, range_of(plan, round), steps) : 0;
    return round < plan->lag
               ? count
               : send_results_down(plan, range_of(plan, round - plan->lag), steps, count);
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    const coll_shape *shape = args->shape;
    uint64_t window = args->values->at[COLL_WINDOW];
    return (coll_plan_size){
        .window = window < FEWEST ? FEWEST : (int)window,
        .steps = 5,
        .segments = SEGMENTS,
        .segment = coll_least(coll_segment_asked(args, 2.0 * shape->topo->ranks), shape->bytes),
        .own_bytes = sizeof(chain_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    const coll_rank_order *line = args->line;
    int position = line->position, p = args->shape->topo->ranks;
    chain_plan *plan = memory;
    *plan = (chain_plan){.base = coll_plan_of(args, size, 0, plan_round),
                         .before = position > 0 ? line->order[position - 1] : -1,
                         .behind = position + 1 < p ? line->order[position + 1] : -1,
                         .segments = coll_segment_count(args->shape->bytes, size.segment),
                         .lag = 2 * (uint64_t)position};
    plan->base.rounds = plan->segments + plan->lag;
    return &plan->base;
}

const coll_algorithm coll_allreduce_chain = {
    .name = "chain",
    .summary = "sums go up the line of the ranks, results down, segment by segment",
    .params = {COLL_PARAM_SEGMENT("bytes that are forwarded at a time; 0: by the cost model", 0),
               COLL_PARAM_WINDOW("segments in flight, at least three", 8)},
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
