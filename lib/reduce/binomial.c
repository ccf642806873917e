/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums go up a tree.
 *
 * binomial, for up to some 100 KB:
 *
 * 1. Ranks are positions in chain order from the root, so that a subtree is a run of neighbours. If
 *    an MPI_Op does not commute, ranks are in the order of their numbers, and each side of the root
 *    is a tree.
 * 2. A rank adds its children's sums to its own data, the nearest child first, and sends the
 *    result to its parent, in segments: while one is passed on, the next one arrives.
 *
 * Steps: ceil(log2 p). Bytes: m from every rank, ceil(log2 p) m to the root, and over an uplink at
 * most ceil(log2 p) m in each direction. Memory: ceil(log2 p) segments for each round of the
 * window.
 * Source: Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in
 * MPICH, IJHPCA 2005.
 *
 * The other algorithms here use the trees of MPI libraries (lib/pattern/usualtree.h) for whole
 * messages, with the ranks in the order of their numbers. They represent the MPI
 * library's own reduction when its time is predicted, and are not among libcoll's algorithms.
 *
 * Cost: for each level of the tree a message from each child.
 * Source: Open MPI 4.1, coll_base_reduce.c.
 */
#include "config.h"

#include "lib/pattern/binomial.h"
#include "lib/pattern/usualtree.h"
#include "lib/plan/tuned.h"
#include "lib/reduce/reduce.h"
#include "lib/reduce/tree.h"

static int nearest_first(int p, int position, int *parent, int children[]) {
    int count = coll_tree_binomial(p, position, parent, children);
    for (int i = 0, j = count - 1; i < j; i++, j--) {
        int nearer = children[j];
        children[j] = children[i];
        children[i] = nearer;
    }
    return count;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    return coll_reduce_tree_size(args, coll_segment_asked(args, 1), args->values->at[COLL_WINDOW],
                                 coll_tree_depth(args->shape->topo->ranks));
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_reduce_tree_plan(args, size, memory, nearest_first);
}

const coll_algorithm coll_reduce_binomial = {
    .name = "binomial",
    .summary = "sums go up a binomial tree in rack order",
    .params = {COLL_PARAM_SEGMENT(COLL_MESSAGE_BYTES "; 0: by the cost model", 0),
               COLL_PARAM_WINDOW("segments in flight", 4)},
    .reproducible = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};

/* Returns whether a flat tree can run CALL: operands may be combined in any order, and the root has
 * fewer than COLL_TREE_CHILDREN children. */
static bool fits_flat_tree(const coll_shape *call) {
    return coll_order_is_free(call) && call->topo->ranks <= COLL_TREE_CHILDREN;
}

static coll_plan_size whole_size(const coll_plan_args *args) {
    const int children = (int)coll_least(COLL_TREE_CHILDREN, (size_t)args->shape->topo->ranks - 1);
    return coll_reduce_tree_size(args, args->shape->bytes, 1, children);
}

#define UP(algorithm, tree, what, applies)                                                         \
    static coll_plan *plan_##algorithm(const coll_plan_args *args, coll_plan_size size,            \
                                       void *memory) {                                             \
        return coll_reduce_tree_plan(args, size, memory, tree);                                    \
    }                                                                                              \
    const coll_algorithm coll_reduce_##algorithm = {                                               \
        .name = #algorithm,                                                                        \
        .summary = "whole sums up a " what,                                                        \
        .applicable = applies,                                                                     \
        .planner = &(const coll_planner){.size = whole_size, .plan = plan_##algorithm},            \
    }

UP(usual_line, coll_usual_line, "line", coll_order_is_free);
UP(usual_binary, coll_usual_binary, "binary tree", coll_order_is_free);
UP(usual_in_order, coll_usual_in_order, "binary tree whose branches are runs of neighbours",
   coll_order_is_free);
UP(usual_flat, coll_usual_flat, "flat tree", fits_flat_tree);
