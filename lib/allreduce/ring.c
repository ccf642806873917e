/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring: the data has p parts. In p - 1 turns each part travels around the ring of the ranks, and
 * every rank adds its own contribution; in p - 1 more turns the sums travel around.
 *
 * The ranks are in chain order, so that every uplink is crossed by one message a turn in either
 * direction. Parts move in segments: a rank forwards a segment as soon as it has the segment,
 * without waiting for the end of the turn. Part i is summed up from position i on around the ring,
 * once and in one order, so all ranks have the same bits.
 *
 * Steps: 2 (p - 1) turns. Bytes: 2 m (p - 1)/p from every rank and to it, and over each uplink in
 * either direction. Memory: two segments for each round of the window.
 * Source: Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations.
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/plan/plan.h"

typedef struct ring_plan {
    coll_plan base;
    int ranks, position;
    uint64_t segments; /* segments of the longest part, which is the number of rounds of a turn */
} ring_plan;

/* Returns segment I of part WHICH (modulo p); it may be empty. */
static coll_range range_of(const ring_plan *plan, int64_t which, uint64_t i) {
    const coll_shape *shape = plan->base.args->shape;
    int p = plan->ranks;
    size_t segment = plan->base.size.segment;
    coll_range part = coll_share(shape, shape->bytes, p, (int)((which % p + p) % p));
    if (i * segment >= part.length)
        return (coll_range){0, 0};
    return (coll_range){part.from + i * segment, coll_segment_length(part.length, segment, i)};
}

/* Returns segment I of the part that this rank receives in TURN. In the same round the rank sends
 * segment I of the next part. */
static coll_range received_range(const ring_plan *plan, uint64_t turn, uint64_t i) {
    return range_of(plan, plan->position - (int64_t)turn - 1, i);
}

/*
 * Returns the index of the send among the steps of a round: it follows the receive and the
 * combination.
 */
static int place_of_send(const ring_plan *plan, uint64_t turn, uint64_t i) {
    bool adds = turn < (uint64_t)plan->ranks - 1;
    return received_range(plan, turn, i).length ? 1 + adds : 0;
}

/*
 * Makes STEP depend on step WHICH of the same segment TURNS turns earlier, unless step WHICH is
 * complete by then.
 */
static void after_turns(const ring_plan *plan, coll_step *step, uint64_t turns, int which) {
    uint64_t back = turns * plan->segments;
    if (back < (uint64_t)plan->base.size.window)
        coll_step_after(step, (int)back, which);
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const ring_plan *plan = (const ring_plan *)base;
    const int *order = plan->base.args->line->order;
    int p = plan->ranks, count = 0;
    uint64_t turn = round / plan->segments, i = round % plan->segments, adding = (uint64_t)p - 1;
    coll_range in = received_range(plan, turn, i),
               out = range_of(plan, plan->position - (int64_t)turn, i);
    if (in.length) {
        coll_step *step = &steps[count++];
        *step = coll_step_receive(order[(plan->position + p - 1) % p], in.from, in.length);
        step->buffer = turn < adding ? COLL_SCRATCH : COLL_DATA;
        if (turn >= adding) /* its sum was sent from the same memory p - 1 turns ago */
            after_turns(plan, step, adding, place_of_send(plan, turn - adding, i));
    }
    if (in.length && turn < adding) {
        steps[count] = coll_step_combine(COLL_DATA, in.from, in.length, false, true);
        coll_step_after(&steps[count++], 0, 0);
    }
    if (out.length) {
        coll_step *step = &steps[count++];
        *step = coll_step_send(order[(plan->position + 1) % p], out.from, out.length);
        step->segment = 1;
        if (turn > 0)
            after_turns(plan, step, 1, turn - 1 < adding ? 1 : 0);
    }
    return count;
}

static size_t longest_part(const coll_shape *shape) {
    return coll_share_start(shape, shape->bytes, shape->topo->ranks, 1);
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    return (coll_plan_size){.window = (int)args->values->at[COLL_WINDOW],
                            .steps = 3,
                            .segments = 2,
                            .segment = coll_segment_even(args->shape, longest_part(args->shape),
                                                         args->values->at[COLL_SEGMENT]),
                            .own_bytes = sizeof(ring_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    int p = args->shape->topo->ranks;
    ring_plan *plan = memory;
    *plan = (ring_plan){.base = coll_plan_of(args, size, 0, plan_round),
                        .ranks = p,
                        .position = args->line->position,
                        .segments = coll_segment_count(longest_part(args->shape), size.segment)};
    plan->base.rounds = 2 * ((uint64_t)p - 1) * plan->segments;
    return &plan->base;
}

const coll_algorithm coll_allreduce_ring = {
    .name = "ring",
    .summary = "parts go round the ring of the ranks: added up, then passed on",
    .params = {COLL_PARAM_SEGMENT("most bytes that are forwarded at a time", 32 << 10),
               COLL_PARAM_WINDOW("segments in flight", 4)},
    .applicable = coll_order_is_free,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
