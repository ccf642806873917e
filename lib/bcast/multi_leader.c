/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * multi_leader: all ranks of the root's node send to other nodes at the same time; for small data,
 * and many ranks per node or long latencies.
 *
 * 1. The root's node broadcasts inside, along a binomial tree.
 * 2. Each rank of the root's node broadcasts to the first ranks of the other nodes that it serves,
 *    along a k-nomial tree (k is the radix).
 * 3. The other nodes broadcast inside, along binomial trees.
 *
 * Steps: ceil(log2 P) inside, ceil(log_k (1 + (N - 1) / P)) of k - 1 messages between nodes, and
 * ceil(log2 P) inside, for N nodes of P ranks. Bytes: m to each other node.
 * Source: the tree of Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan: Exploiting hierarchy in
 * parallel computer networks to optimize collective operation performance, IPDPS 2000, with several
 * senders; and the k-nomial trees of MPICH.
 */
#include "config.h"

#include "lib/bcast/bcast.h"
#include "lib/plan/leader_tree.h"
#include "lib/plan/multi_leader.h"

/* Upper limit of the data, in bytes. */
static const size_t BYTES_MOST = 64 << 10;

typedef struct tree_plan {
    coll_plan base;
    int parent, count; /* rank of the parent, or -1; number of children */
    int children[];
} tree_plan;

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const tree_plan *plan = (const tree_plan *)base;
    const coll_range what = coll_segment_at(base->args->own, base->size.segment, round);
    int count = 0;
    if (plan->parent >= 0)
        steps[count++] = coll_step_receive(plan->parent, what.from, what.length);
    for (int i = 0; i < plan->count; i++) {
        coll_step *send = &steps[count++];
        *send = coll_step_send(plan->children[i], what.from, what.length);
        if (plan->parent >= 0)
            coll_step_after(send, 0, 0);
    }
    return count;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    const int children = coll_leader_tree_children(args);
    return (coll_plan_size){.window = 1,
                            .steps = 1 + children,
                            .segments = 1,
                            .segment = args->shape->bytes,
                            .own_bytes = sizeof(tree_plan) + (size_t)children * sizeof(int)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    tree_plan *plan = memory;
    const uint64_t rounds = coll_segment_count(args->own, size.segment);
    plan->base = coll_plan_of(args, size, rounds, plan_round);
    plan->count = coll_leader_tree(args, &plan->parent, plan->children);
    return &plan->base;
}

static bool is_applicable(const coll_shape *call) {
    return coll_leader_tree_applies(call) && call->bytes <= BYTES_MOST;
}

const coll_algorithm coll_bcast_multi_leader = {
    .name = "multi_leader",
    .summary = "all ranks of the root's node send to other nodes at the same time",
    .params = {COLL_PARAM_LEADERS(COLL_RADIX)},
    .applicable = is_applicable,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
