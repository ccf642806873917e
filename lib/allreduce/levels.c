/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * two_level, three_level: for small data and many ranks per node, or per rack.
 *
 * Sums go up a binomial tree in every node (in every rack, if no ranks share a node) to its first
 * rank; these first ranks exchange their sums by recursive doubling, and the results go down the
 * trees again. With three levels the first ranks of the nodes use a tree in their rack, and the
 * first ranks of the racks exchange their sums.
 *
 * Steps: 2 ceil(log2 n) in groups of n ranks, and the steps of recursive doubling among the G
 * groups. Bytes: (ceil(log2 n) + ceil(log2 G)) m to the first rank of a group and from it. Over an
 * uplink up to m for each step of the doubling; with two levels, if ranks share nodes, up to m for
 * each step and node of the rack. Memory: a segment for each child and step, for each round of the
 * window.
 * Source: Thakur, Rabenseifner, Gropp; Graham, Shipman: MPI support for multi-core architectures.
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/allreduce/trees.h"

static bool share_nodes(const coll_topo *topo) {
    return topo->nodes > 1 && topo->nodes < topo->ranks;
}

/* Returns the groups in which two_level has trees: nodes, or racks if no ranks share nodes. */
static coll_unit level_of(const coll_topo *topo) {
    return share_nodes(topo) ? COLL_UNIT_NODE : COLL_UNIT_RACK;
}

static coll_plan_size size_two(const coll_plan_args *args) {
    coll_unit level = level_of(args->shape->topo);
    return coll_trees_size(args, coll_trees_depth(args, COLL_UNIT_RANK, level) +
                                     coll_trees_depth(args, level, COLL_UNIT_ALL));
}

static coll_plan_size size_three(const coll_plan_args *args) {
    return coll_trees_size(args, coll_trees_depth(args, COLL_UNIT_RANK, COLL_UNIT_NODE) +
                                     coll_trees_depth(args, COLL_UNIT_NODE, COLL_UNIT_RACK) +
                                     coll_trees_depth(args, COLL_UNIT_RACK, COLL_UNIT_ALL));
}

static coll_plan *plan_two(const coll_plan_args *args, coll_plan_size size, void *memory) {
    coll_trees *plan = coll_trees_open(args, size, memory);
    coll_unit level = level_of(args->shape->topo);
    coll_trees_join(plan, COLL_UNIT_RANK, level);
    coll_trees_double(plan, level);
    return &plan->base;
}

static coll_plan *plan_three(const coll_plan_args *args, coll_plan_size size, void *memory) {
    coll_trees *plan = coll_trees_open(args, size, memory);
    coll_trees_join(plan, COLL_UNIT_RANK, COLL_UNIT_NODE);
    coll_trees_join(plan, COLL_UNIT_NODE, COLL_UNIT_RACK);
    coll_trees_double(plan, COLL_UNIT_RACK);
    return &plan->base;
}

static bool has_two(const coll_shape *call) {
    const coll_topo *topo = call->topo;
    return !call->ordered && (share_nodes(topo) || (topo->racks > 1 && topo->racks < topo->ranks));
}

static bool has_three(const coll_shape *call) {
    const coll_topo *topo = call->topo;
    return !call->ordered && share_nodes(topo) && topo->racks > 1 && topo->racks < topo->nodes;
}

const coll_algorithm coll_allreduce_two_level = {
    .name = "two_level",
    .summary = "up a tree in each node or rack, exchanged by the first ranks, and down again",
    .params = COLL_TREES_PARAMS(2),
    .applicable = has_two,
    .planner = &(const coll_planner){.size = size_two, .plan = plan_two},
};

const coll_algorithm coll_allreduce_three_level = {
    .name = "three_level",
    .summary = "up trees in nodes and racks, exchanged by the racks' first ranks, and down again",
    .params = COLL_TREES_PARAMS(2),
    .applicable = has_three,
    .planner = &(const coll_planner){.size = size_three, .plan = plan_three},
};
