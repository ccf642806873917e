/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recursive_doubling: pairs of ranks exchange their sums, twice as far apart each time; for small
 * data.
 *
 * Ranks are positions in the chain order, or in rank order if the operands must be combined in
 * order. In turn k a rank exchanges its sum with the rank whose position differs only in bit k, so
 * that both then have the sum of twice as many ranks. If the number of ranks is no power of two,
 * the first ranks form pairs: the second of a pair sends its data to the first and receives the
 * result. Operands are combined in the order of the line.
 *
 * Steps: floor(log2 p), and 2 more if p is no power of two. Bytes: in each step m from every rank
 * and to it; in the steps between racks, up to m over an uplink for each of the rack's ranks.
 * Memory: a segment for each step, for each round of the window.
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
    coll_trees_double(plan, COLL_UNIT_RANK);
    return &plan->base;
}

const coll_algorithm coll_allreduce_recursive_doubling = {
    .name = "recursive_doubling",
    .summary = "pairs of ranks exchange all of their sums, twice as far apart each time",
    .params = COLL_TREES_PARAMS(2),
    .reproducible = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
