/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain: the pipelined, rack-aware chain; for large data.
 *
 * 1. Ranks form a line: the root, its node, its rack, the other racks, so that every uplink is
 *    crossed once in each direction.
 * 2. The data moves down the line in segments. A rank forwards a segment as soon as it has received
 *    the segment. It posts receives a window ahead, and sends at most a window of segments that the
 *    next rank has not confirmed. A send is complete when the transport has copied the data, so
 *    only confirmations limit what waits in the switch before the next rank. Without that limit the
 *    switch's buffer overflows now and then, and a line in which every link is equally fast never
 *    makes up for the time that a lost packet costs.
 *
 * Between nodes segments stay below the transport's eager limit: above it, a rank's clear-to-send
 * queues behind the data that it is forwarding, and the pipeline stalls (over TCP, 128 KB segments
 * reach a third of the rate of 32 KB ones).
 *
 * With confirm=1 segments carry checksums, the last rank acknowledges, and faults cause up to RETRY
 * restarts: chain_confirmed.h.
 *
 * Cost: (p + n - 2) (a + c B) for p ranks and n segments of c bytes, each of which takes a + c B:
 * the first segment pays p - 1 hops in full, each at its level; the other n - 1 follow at the pace
 * of the farthest level.
 * Source: Zhang and Qiu, section 4 and eq. 3.
 */
#include "config.h"

#include "lib/algorithm/rank_order.h"
#include "lib/bcast/bcast.h"
#include "lib/bcast/reliable/chain_confirmed.h"
#include "lib/plan/plan.h"

#include <math.h>

enum { CONFIRM = COLL_WINDOW + 1, RETRY };

static size_t segment_of(const coll_shape *call, const coll_values *values) {
    return coll_bcast_segment(call, values->at[COLL_SEGMENT], call->topo->ranks - 2);
}

/* Returns the user's window, else how many segments fit half of the buffer before the next rank,
 * from FEWEST to MOST; MOST if the buffer is unknown. */
static int window_of(const coll_shape *call, const coll_values *values, size_t segment) {
    enum { FEWEST = 4, MOST = 16 };
    if (values->at[COLL_WINDOW])
        return (int)values->at[COLL_WINDOW];
    double buffer = coll_profile_outermost(call->profile, call->topo)->buffer;
    double fit = buffer > 0 ? floor(buffer / 2 / fmax((double)segment, 1)) : MOST;
    return (int)fmin(fmax(fit, FEWEST), MOST);
}

/* Round I handles segment I. */
typedef struct chain_plan {
    coll_plan base;
    int previous, next; /* ranks; -1: none */
    size_t window;
    size_t step; /* segments per confirmation, which is an empty message */
} chain_plan;

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const chain_plan *plan = (const chain_plan *)base;
    coll_range what = coll_segment_at(base->args->own, base->size.segment, round);
    size_t i = (size_t)round, window = plan->window;
    int count = 0, received = -1, confirmed = -1;
    if (plan->previous >= 0) {
        received = count++;
        steps[received] = coll_step_receive(plan->previous, what.from, what.length);
    }
    if (plan->next >= 0 && i >= window && (i - window) % plan->step == 0) {
        confirmed = count++;
        steps[confirmed] = coll_step_receive(plan->next, 0, 0);
        /* one confirmation at a time, so that segments don't leave in bursts */
        if (i >= window + plan->step)
            coll_step_pace(&steps[confirmed], (int)plan->step, confirmed);
    }
    if (plan->next >= 0) {
        coll_step *forward = &steps[count++];
        *forward = coll_step_send(plan->next, what.from, what.length);
        coll_step_after(forward, 0, received);
        coll_step_after(forward, 0, confirmed);
    }
    /* The confirmations of the last window of segments are not needed, so they are not sent. */
    bool wanted = (i + 1) % plan->step == 0 && i + 1 + window < base->rounds + plan->step;
    if (plan->previous >= 0 && wanted) {
        steps[count] = coll_step_send(plan->previous, 0, 0);
        coll_step_after(&steps[count++], 0, received);
    }
    return count;
}

/* Two windows of rounds: while a segment is sent, up to a window of later ones arrive. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    size_t segment = segment_of(args->shape, args->values), bytes = args->shape->bytes,
           window = (size_t)window_of(args->shape, args->values, segment);
    return (coll_plan_size){.window =
                                (int)coll_least(2 * window, coll_segment_count(bytes, segment)),
                            .steps = 4,
                            .segments = 1,
                            .segment = coll_least(segment, bytes),
                            .own_bytes = sizeof(chain_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    const coll_rank_order *line = args->line;
    size_t segments = coll_segment_count(args->own, size.segment),
           window =
               coll_least((size_t)window_of(args->shape, args->values, size.segment), segments);
    bool is_last = line->position == args->shape->topo->ranks - 1;
    chain_plan *plan = memory;
    *plan = (chain_plan){.base = coll_plan_of(args, size, segments, plan_round),
                         .previous = line->position > 0 ? line->order[line->position - 1] : -1,
                         .next = is_last ? -1 : line->order[line->position + 1],
                         .window = window,
                         .step = window < 4 ? 1 : window / 4};
    return &plan->base;
}

/* A confirmed chain is not a plan: its messages depend on what arrives. */
static bool is_confirmed(const coll_values *values) {
    return values->at[CONFIRM];
}

static int run_confirmed(const coll_exec_args *call) {
    const coll_shape *shape = call->args.shape;
    const coll_values *values = call->args.values;
    size_t segment = segment_of(shape, values);
    return coll_chain_confirmed_run(call, segment, window_of(shape, values, segment),
                                    (unsigned)values->at[RETRY]);
}

const coll_algorithm coll_bcast_chain = {
    .name = "chain",
    .summary = "segments pass along a line of ranks in rack order",
    .params = {COLL_PARAM_SEGMENT_FORMERLY("chunk", COLL_MESSAGE_BYTES "; 0: by the cost model", 0),
               COLL_PARAM_WINDOW("messages that the next rank has not confirmed; "
                                 "0: by the cost model",
                                 0),
               [CONFIRM] = {"confirm", "1: checksums, and the last rank's acknowledgement",
                            .highest = 1},
               [RETRY] = {"retry", "with confirm=1: restarts after faults", .fallback = 2,
                          .highest = 10}},
    .planner =
        &(const coll_planner){.size = plan_size, .plan = make_plan, .unplanned = is_confirmed},
    .run = run_confirmed,
};
