/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binomial: sums go up a binomial tree, and the results down again: a reduction and a broadcast.
 *
 * Ranks are positions in the chain order, or in rank order if the operands must be combined in
 * order; subtrees are runs of positions.
 *
 * Steps: 2 ceil(log2 p). Bytes: ceil(log2 p) m to the root and from it; over an uplink up to
 * ceil(log2 p) m in either direction. Memory: a segment for each child, for each round of the
 * window.
 * Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in
 * MPICH.
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/allreduce/trees.h"

static coll_plan_size plan_size(const coll_plan_args *args) {
    return coll_trees_size(args, coll_trees_depth(args, COLL_UNIT_RANK, COLL_UNIT_ALL));
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    coll_trees *plan = coll_trees_open(args, size, memory);
    coll_trees_join(plan, COLL_UNIT_RANK, COLL_UNIT_ALL);
    return &plan->base;
}

const coll_algorithm coll_allreduce_binomial = {
    .name = "binomial",
    .summary = "up a binomial tree and down again",
    .params = COLL_TREES_PARAMS(2),
    .rival = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
