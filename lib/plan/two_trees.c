/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/plan/two_trees.h"

#include "lib/pattern/binomial.h"
#include "lib/pattern/twotree.h"

/* Returns the sum of the hops from rack to rack, the depth of a tree over half of the nodes of an
 * average rack, one hop to a leaf, and the hops down the longest chain of ranks in a node. */
double coll_two_trees_depth(const coll_topo *topo) {
    int rack = (topo->nodes + topo->racks - 1) / topo->racks;
    return topo->racks - 1 + 1 + coll_tree_depth((rack + 1) / 2) + topo->most_ranks_per_node - 1;
}

/* The trees, over the nodes in chain order. */
typedef struct forest {
    int nodes, own;              /* number of nodes, and this rank's node */
    int *first;                  /* position of each node's first rank; then the number of ranks */
    int *parent[COLL_TWO_TREES]; /* of each node */
    int *child[COLL_TWO_TREES];  /* two children of each node; -1: none */
} forest;

/* Integers for each node: those of the forest, then its rack. */
enum { TWO = 2, BY_NODE = 1 + COLL_TWO_TREES * (1 + TWO), RACK = 1 };

static size_t forest_bytes(const coll_plan_args *args) {
    size_t nodes = (size_t)args->shape->topo->nodes + 1;
    return sizeof(forest) + (BY_NODE + RACK + COLL_TWO_TREE_SCRATCH) * nodes * sizeof(int);
}

static void find_nodes(const coll_plan_args *args, forest *all, int rack[]) {
    const coll_topo *topo = args->shape->topo;
    all->own = coll_rank_order_list(args->line, topo, COLL_UNIT_NODE, all->first);
    for (all->nodes = 0; all->first[all->nodes] < topo->ranks; all->nodes++)
        rack[all->nodes] = topo->places[args->line->order[all->first[all->nodes]]].rack;
}

static void grow_forest(const coll_plan_args *args, void *memory) {
    forest *all = memory;
    size_t most = (size_t)args->shape->topo->nodes + 1;
    int *next = (int *)(all + 1), *rack = next + BY_NODE * most;
    all->first = next;
    for (size_t t = 0; t < COLL_TWO_TREES; t++) {
        all->parent[t] = next + (1 + t) * most;
        all->child[t] = next + (1 + COLL_TWO_TREES + TWO * t) * most;
    }
    find_nodes(args, all, rack);
    coll_two_tree(all->nodes, rack, rack + RACK * most, all->parent, all->child);
}

/* Sets this rank's parents and children. */
static void set_branches(const coll_rank_order *line, const forest *all, coll_branch branches[]) {
    const int *order = line->order;
    int position = line->position, node = all->own;
    bool leads = position == all->first[node];
    for (int t = 0; t < COLL_TWO_TREES; t++) {
        coll_branch *b = &branches[t];
        b->parent = -1;
        if (position > 0)
            b->parent = order[leads ? all->first[all->parent[t][node]] : position - 1];
        for (int nth = 0; leads && nth < TWO; nth++)
            if (all->child[t][TWO * node + nth] >= 0)
                b->child[b->children++] = order[all->first[all->child[t][TWO * node + nth]]];
        if (position + 1 < all->first[node + 1])
            b->child[b->children++] = order[position + 1];
    }
}

static uint64_t count_rounds(const coll_plan_args *args, size_t segment) {
    return (coll_segment_count(args->shape->bytes, segment) + COLL_TWO_TREES - 1) / COLL_TWO_TREES;
}

coll_plan_size coll_two_trees_size(const coll_plan_args *args, size_t segment, size_t window,
                                   int steps, int segments) {
    return (coll_plan_size){.window = (int)coll_least(window, count_rounds(args, segment)),
                            .steps = steps,
                            .segments = segments,
                            .segment = coll_least(segment, args->shape->bytes),
                            .own_bytes = sizeof(coll_two_trees),
                            .making_bytes = forest_bytes(args)};
}

coll_plan *coll_two_trees_plan(const coll_plan_args *args, coll_plan_size size, void *memory,
                               coll_round *round) {
    coll_two_trees *plan = memory;
    *plan =
        (coll_two_trees){.base = coll_plan_of(args, size, count_rounds(args, size.segment), round)};
    grow_forest(args, plan + 1);
    set_branches(args->line, (const forest *)(plan + 1), plan->branch);
    return &plan->base;
}

coll_range coll_two_trees_segment(const coll_two_trees *plan, int t, uint64_t round) {
    size_t bytes = plan->base.args->shape->bytes, segment = plan->base.size.segment;
    uint64_t number = COLL_TWO_TREES * round + (uint64_t)t;
    return number < coll_segment_count(bytes, segment) ? coll_segment_at(bytes, segment, number)
                                                       : (coll_range){bytes, 0};
}
