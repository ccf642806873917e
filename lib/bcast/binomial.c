/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every rank that has the whole message forwards it, down a tree.
 *
 * binomial: the minimum spanning tree of the papers. Ranks are positions in the chain order (node
 * by node, rack by rack from the root), so that a subtree is a run of neighbours; a rank sends to
 * its farthest child first, which usually has the largest subtree. At most ceil(log2 p) copies
 * enter a rack, and at most as many leave it.
 *
 * Cost: log2 p (Os + L + Or + Ur), as in lib/cost/cost.h.
 * Source: Zhang and Qiu, eq. 1; Tam and Wang, eq. 2 with k = 1.
 *
 * The other algorithms here use the trees of MPI libraries (lib/pattern/usualtree.h), with the
 * ranks in the order of their numbers, and send to all children at once. They represent the
 * library's own broadcast when its time is predicted, and are in no table. Up to p - 1 copies enter
 * and leave a rack, since these trees ignore racks.
 *
 * Cost: for each level of the tree a message to each child.
 * Source: Open MPI 4.1, coll_base_bcast.c.
 */
#include "config.h"

#include "lib/algorithm/rank_order.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/binomial.h"
#include "lib/pattern/usualtree.h"
#include "lib/plan/staged_plan.h"

#include <assert.h>
#include <stdbool.h>

/* One turn with the parent (except at the root); then one turn with each child, or one turn with
 * all children at once. */
typedef struct tree_plan {
    coll_staged_plan turns;
    int count;                        /* number of children */
    int kin[1 + COLL_USUAL_CHILDREN]; /* positions of the parent, or -1, and of the children */
} tree_plan;

static_assert((int)COLL_TURN_RANGES >= (int)COLL_USUAL_CHILDREN, "a turn has all children");

static coll_step step_with(const tree_plan *plan, uint64_t nth) {
    const coll_plan_args *args = plan->turns.base.args;
    const int peer = args->line->order[plan->kin[nth]];
    return nth == 0 ? coll_step_receive(peer, 0, args->own) : coll_step_send(peer, 0, args->own);
}

static int one_child(const coll_staged_plan *turns, uint64_t turn, coll_step whole[]) {
    const tree_plan *plan = (const tree_plan *)turns;
    whole[0] = step_with(plan, plan->kin[0] < 0 ? turn + 1 : turn);
    return 1;
}

static int all_children(const coll_staged_plan *turns, uint64_t turn, coll_step whole[]) {
    const tree_plan *plan = (const tree_plan *)turns;
    if (turn == 0 && plan->kin[0] >= 0)
        return one_child(turns, turn, whole);
    for (int i = 0; i < plan->count; i++)
        whole[i] = step_with(plan, (uint64_t)i + 1);
    return plan->count;
}

static coll_plan_size plan_size(const coll_plan_args *args, int at_once) {
    coll_plan_size size = coll_staged_plan_size(args->own, at_once);
    size.own_bytes = sizeof(tree_plan);
    return size;
}

/* Returns the size of plans that send to all children at once. The root has the most children. */
static coll_plan_size plan_size_of_all(const coll_plan_args *args, coll_usual_tree *tree) {
    int parent, children[COLL_USUAL_CHILDREN];
    const int most = tree(args->shape->topo->ranks, 0, &parent, children);
    return plan_size(args, most > 1 ? most : 1);
}

static coll_plan *plan_down(const coll_plan_args *args, coll_plan_size size, void *memory,
                            coll_usual_tree *tree, bool at_once) {
    tree_plan *plan = memory;
    plan->count =
        tree(args->shape->topo->ranks, args->line->position, &plan->kin[0], &plan->kin[1]);
    const int receiving = plan->kin[0] >= 0, sending = at_once ? plan->count > 0 : plan->count;
    return coll_staged_plan_make(args, size, memory, args->own, (uint64_t)(receiving + sending),
                                 at_once ? all_children : one_child);
}

static coll_plan_size size_binomial(const coll_plan_args *args) {
    return plan_size(args, 1);
}

static coll_plan *plan_binomial(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return plan_down(args, size, memory, coll_tree_binomial, false);
}

const coll_algorithm coll_bcast_binomial = {
    .name = "binomial",
    .summary = "the whole message down a binomial tree in rack order",
    .planner = &(const coll_planner){.size = size_binomial, .plan = plan_binomial},
};

#define USUAL(name_, tree)                                                                         \
    static coll_plan_size size_##name_(const coll_plan_args *args) {                               \
        return plan_size_of_all(args, tree);                                                       \
    }                                                                                              \
    static coll_plan *plan_##name_(const coll_plan_args *args, coll_plan_size size,                \
                                   void *memory) {                                                 \
        return plan_down(args, size, memory, tree, true);                                          \
    }                                                                                              \
    const coll_algorithm coll_bcast_##name_ = {                                                    \
        .name = #name_,                                                                            \
        .summary = "the whole message down a tree of MPI libraries",                               \
        .planner = &(const coll_planner){.size = size_##name_, .plan = plan_##name_},              \
    }

USUAL(usual_flat, coll_usual_flat);
USUAL(usual_line, coll_usual_line);
USUAL(usual_binary, coll_usual_binary);
USUAL(usual_binomial, coll_usual_binomial);
USUAL(usual_quadrinomial, coll_usual_quadrinomial);
