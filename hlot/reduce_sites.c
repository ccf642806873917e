/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sites: for data at several sites.
 *
 * 1. In every site, sums go up binomial trees to its first rank (hlot/sites.h); in the root's site,
 *    to the root.
 * 2. Between sites they go up HLOT's tree of the shortest paths to the root's site.
 *
 * Steps: the longest of the shortest paths, and ceil(log2 n) for n ranks of a site. Bytes: each
 * rank but the root sends m; the first rank of a site receives m from each child that it has in the
 * trees. Memory: for each segment of the window, a segment for each site and for each child in the
 * rank's site.
 *
 * The order of combination depends on the latencies, as in allreduce's sites.
 *
 * Source: Park and others.
 */
#include "config.h"

#include "hlot/sites.h"
#include "lib/reduce/tree.h"

/* Round I handles segment I. */
typedef struct up_plan {
    coll_trees trees; /* the parent and children of a rank */
    coll_kin kin;     /* the same, for coll_reduce_up */
} up_plan;

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    coll_range what = coll_segment_at(base->args->shape->bytes, base->size.segment, round);
    return coll_reduce_up(&((const up_plan *)base)->kin, what, steps, 0);
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    const coll_shape *shape = args->shape;
    size_t segment = coll_segment_of(shape, args->values->at[COLL_SEGMENT]);
    coll_plan_size size =
        coll_reduce_tree_size(args, coll_least(segment, shape->bytes),
                              args->values->at[COLL_WINDOW], hlot_sites_children(args));
    size.own_bytes = sizeof(up_plan);
    return size;
}

/* Returns the tree of the shortest paths to the root's site. */
static hlot_tree shortest_path_tree(const coll_shape *call) {
    hlot_network network;
    hlot_tree tree;
    hlot_sites_network(call, &network);
    for (int a = 0; a < network.sites; a++)
        for (int b = 0; b < a; b++) {
            double there = network.latency[a][b];
            network.latency[a][b] = network.latency[b][a];
            network.latency[b][a] = there;
        }
    hlot_tree_make(&network, HLOT_SPT, call->topo->places[call->root].site, &tree);
    return tree;
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    int first[HLOT_SITES_SUMMED];
    up_plan *plan = memory;
    coll_trees *trees = hlot_sites_open(args, size, &plan->trees, first);
    if (trees->parent < 0) {
        const hlot_tree tree = shortest_path_tree(args->shape);
        hlot_sites_join(trees, &tree, first);
    }
    trees->base.round = plan_round;
    plan->kin = (coll_kin){.parent = trees->parent,
                           .children = trees->children,
                           .behind = trees->children,
                           .child = trees->child};
    return &trees->base;
}

const coll_algorithm hlot_reduce_sites = {
    .name = "sites",
    .summary = "up a tree in each site, and up HLOT's tree between sites",
    .params = HLOT_SITES_PARAMS,
    .applicable = hlot_sites_apply,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
    .prepare = hlot_sites_prepare,
};
