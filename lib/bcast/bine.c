/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bine: a pipeline down a Bine tree, which is a binomial tree with shorter edges.
 *
 * 1. Ranks are positions in the chain order, as on a ring; lib/pattern/bine.h defines the tree. A
 *    subtree is a run of neighbours, on either side of its root.
 * 2. The data moves in segments: a rank sends each segment to its children as soon as it has it, to
 *    the root of the largest subtree first.
 *
 * At most 2 ceil(log2 p) copies enter or leave a rack.
 *
 * Cost: with d = ceil(log2 p), d (d + 1) / 2 messages for the first segment to reach the last rank,
 * since a rank's messages share its link, as with binomial; the others follow at the pace of the
 * root, which sends d copies.
 * Source: De Sensi et al.: Bine Trees: Enhancing Collective Operations by Optimizing Communication
 * Locality, arXiv 2508.17311.
 */
#include "config.h"

#include "lib/algorithm/rank_order.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/bine.h"
#include "lib/pattern/binomial.h"
#include "lib/plan/plan.h"

/* Round I handles segment I. */
typedef struct bine_plan {
    coll_plan base;
    int parent, children, child[31]; /* positions; a parent of -1: this is the root */
} bine_plan;

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const bine_plan *plan = (const bine_plan *)base;
    const int *order = base->args->line->order;
    coll_range what = coll_segment_at(base->args->own, base->size.segment, round);
    uint64_t window = base->args->values->at[COLL_WINDOW];
    int count = 0;
    if (plan->parent >= 0)
        steps[count++] = coll_step_receive(order[plan->parent], what.from, what.length);
    for (int i = 0; i < plan->children; i++) {
        coll_step *pass = &steps[count];
        *pass = coll_step_send(order[plan->child[i]], what.from, what.length);
        if (plan->parent >= 0)
            coll_step_after(pass, 0, 0);
        if (round >= window) /* limits the messages in flight to a child */
            coll_step_after(pass, (int)window, count);
        count++;
    }
    return count;
}

/* Two windows of rounds: while one window of segments is sent, another arrives. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    size_t segment = coll_bcast_segment(args->shape, args->values->at[COLL_SEGMENT],
                                        (coll_tree_depth(args->shape->topo->ranks) + 1) / 2.);
    uint64_t segments = coll_segment_count(args->own, segment);
    return (coll_plan_size){.window = (int)coll_least(2 * args->values->at[COLL_WINDOW], segments),
                            .steps = 1 + coll_tree_depth(args->shape->topo->ranks),
                            .segments = 1,
                            .segment = coll_least(segment, args->own),
                            .own_bytes = sizeof(bine_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    bine_plan *plan = memory;
    plan->base = coll_plan_of(args, size, coll_segment_count(args->own, size.segment), plan_round);
    plan->children =
        coll_tree_bine(args->shape->topo->ranks, args->line->position, &plan->parent, plan->child);
    return &plan->base;
}

const coll_algorithm coll_bcast_bine = {
    .name = "bine",
    .summary = "segments down a binomial tree whose edges are a third shorter",
    .params = {COLL_PARAM_SEGMENT(COLL_MESSAGE_BYTES "; 0: by the cost model", 0),
               COLL_PARAM_WINDOW("messages in flight to each child", 8)},
    .rival = true, /* not chosen until trials on racks show when it is faster */
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
