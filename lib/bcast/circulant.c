/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * circulant: pipelined broadcast in the smallest possible number of rounds; for medium sizes.
 *
 * 1. The data is cut into n segments; ranks are positions in the chain order.
 * 2. In each of n - 1 + ceil(log2 p) rounds a rank sends one segment to the position skip[k] above
 *    it and receives one from the position skip[k] below it; lib/pattern/circulant.h says what k
 *    is and which segments these are. Rounds are not synchronized: a rank continues as soon as it
 *    has the segment to be sent.
 *
 * A chain's first segment takes p - 1 hops, here it takes ceil(log2 p). In exchange every rank
 * communicates with 2 ceil(log2 p) others, also across racks: up to one copy for each rank of a
 * rack enters the rack, and the number of copies that leave the rack has no such bound.
 *
 * Cost: (n - 1 + ceil(log2 p)) (a + b B) for segments of b bytes, each of which takes a + b B. The
 * cost grows further with the number of segments: as the rounds drift apart, two senders sometimes
 * send to one receiver at once.
 * Source: Traeff, Optimal Broadcast Schedules in Logarithmic Time, arXiv 2407.18004.
 */
#include "config.h"

#include "lib/algorithm/rank_order.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/binomial.h"
#include "lib/pattern/circulant.h"
#include "lib/plan/plan.h"

typedef struct circulant_plan {
    coll_plan base;
    coll_circulant schedule;
    long long segments;
} circulant_plan;

static coll_circulant_round round_at(const circulant_plan *plan, uint64_t round) {
    return coll_circulant_at(&plan->schedule, plan->segments, (long long)round);
}

/*
 * Makes SEND, which sends SEGMENT in ROUND, depend on the segment's receive and on the last receive
 * before this round, which keeps the ranks in step. Receives of rounds before the window are
 * complete already.
 */
static void add_dependencies(const circulant_plan *plan, uint64_t round, long long segment,
                             coll_step *send) {
    bool last = true;
    for (int back = 1; back < plan->base.size.window && (uint64_t)back <= round; back++) {
        long long received = round_at(plan, round - (uint64_t)back).receive;
        if (received == segment) {
            coll_step_after(send, back, 0);
            return;
        }
        if (received >= 0 && last)
            coll_step_pace(send, back, 0);
        last = last && received < 0;
    }
}

static coll_step segment_step(const coll_plan *base, long long segment, int position,
                              coll_step (*step)(int peer, size_t from, size_t length)) {
    coll_range what = coll_segment_at(base->args->own, base->size.segment, (uint64_t)segment);
    return step(base->args->line->order[position], what.from, what.length);
}

/* Writes a round; its receive, if it has one, comes first. */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const circulant_plan *plan = (const circulant_plan *)base;
    coll_circulant_round now = round_at(plan, round);
    uint64_t window = base->args->values->at[COLL_WINDOW];
    coll_circulant_round before = {.send = -1, .receive = -1};
    int count = 0;
    if (round >= window)
        before = round_at(plan, round - window);
    if (now.receive >= 0) {
        steps[count] = segment_step(base, now.receive, now.from, coll_step_receive);
        if (before.receive >= 0)
            coll_step_pace(&steps[count], (int)window, 0);
        count++;
    }
    if (now.send < 0)
        return count;
    coll_step *send = &steps[count++];
    *send = segment_step(base, now.send, now.to, coll_step_send);
    send->segment = 1;
    add_dependencies(plan, round, now.send, send);
    if (before.send >= 0) /* limits the messages in flight */
        coll_step_after(send, (int)window, before.receive >= 0);
    return count;
}

static uint64_t rounds_of(const coll_plan_args *args, size_t segment) {
    return coll_segment_count(args->own, segment) - 1 +
           (uint64_t)coll_tree_depth(args->shape->topo->ranks);
}

/* Two windows of rounds: while one window of segments is sent, another arrives. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    size_t segment = coll_bcast_segment(args->shape, args->values->at[COLL_SEGMENT],
                                        coll_tree_depth(args->shape->topo->ranks) - 1);
    return (coll_plan_size){
        .window = (int)coll_least(2 * args->values->at[COLL_WINDOW], rounds_of(args, segment)),
        .steps = 2,
        .segments = 2,
        .segment = coll_least(segment, args->own),
        .own_bytes = sizeof(circulant_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    circulant_plan *plan = memory;
    *plan = (circulant_plan){
        .base = coll_plan_of(args, size, rounds_of(args, size.segment), plan_round),
        .segments = (long long)coll_segment_count(args->own, size.segment)};
    coll_circulant_init(&plan->schedule, args->shape->topo->ranks, args->line->position);
    return &plan->base;
}

const coll_algorithm coll_bcast_circulant = {
    .name = "circulant",
    .summary = "segments over a circulant graph, in the fewest possible rounds",
    .params = {COLL_PARAM_SEGMENT_FORMERLY("block", COLL_MESSAGE_BYTES "; 0: by the cost model", 0),
               COLL_PARAM_WINDOW("messages in flight in each direction", 8)},
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
