/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * multi_leader: all ranks of the root's node receive from other nodes at the same time; for small
 * data, and many ranks per node or long latencies.
 *
 * 1. Every other node sums up inside, along a binomial tree.
 * 2. The sums of these nodes go from first rank to first rank up k-nomial trees (k is the radix),
 *    of which each rank of the root's node is the root of one.
 * 3. The root's node sums up inside, along a binomial tree.
 *
 * Steps: ceil(log2 P) inside, ceil(log_k (1 + (N - 1) / P)) of k - 1 messages between nodes, and
 * ceil(log2 P) inside, for N nodes of P ranks. Bytes: m from each other node. Memory: m for each
 * child.
 * Source: as for the broadcast (lib/bcast/multi_leader.c), upwards.
 */
#include "config.h"

#include "lib/plan/leader_tree.h"
#include "lib/plan/multi_leader.h"
#include "lib/reduce/reduce.h"
#include "lib/reduce/tree.h"

/* Upper limit of the data, in bytes. */
static const size_t BYTES_MOST = 64 << 10;

typedef struct tree_plan {
    coll_plan base;
    coll_kin kin;
    int children[];
} tree_plan;

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_range what = {0, base->args->shape->bytes};
    (void)round; /* there is only one */
    return coll_reduce_up(&((const tree_plan *)base)->kin, what, steps, 0);
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    const int children = coll_leader_tree_children(args);
    return (coll_plan_size){.window = 1,
                            .steps = 2 * children + 1,
                            .segments = children,
                            .segment = args->shape->bytes,
                            .own_bytes = sizeof(tree_plan) + (size_t)children * sizeof(int)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    tree_plan *plan = memory;
    int parent;
    const int count = coll_leader_tree(args, &parent, plan->children);
    for (int i = 0, j = count - 1; i < j; i++, j--) { /* in the order in which their sums arrive */
        const int child = plan->children[i];
        plan->children[i] = plan->children[j];
        plan->children[j] = child;
    }
    plan->base = coll_plan_of(args, size, 1, plan_round);
    plan->kin = (coll_kin){.parent = parent, .children = count, .child = plan->children};
    return &plan->base;
}

static bool is_applicable(const coll_shape *call) {
    return coll_order_is_free(call) && coll_leader_tree_applies(call) && call->bytes <= BYTES_MOST;
}

const coll_algorithm coll_reduce_multi_leader = {
    .name = "multi_leader",
    .summary = "all ranks of the root's node receive from other nodes at the same time",
    .params = {COLL_PARAM_LEADERS(COLL_RADIX)},
    .applicable = is_applicable,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
