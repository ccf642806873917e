/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sites: for data at several sites.
 *
 * 1. In every site, sums go up binomial trees to its first rank (hlot/sites.h).
 * 2. Between sites they go up HLOT's tree of shortest paths. Its root is the site with the smallest
 *    maximum round-trip time to another site, over these paths.
 * 3. The result goes down the same trees.
 *
 * Steps: the longest path, there and back, and 2 ceil(log2 n) for n ranks of a site.
 *
 * Bytes: the first rank of a site sends m to its parent and each of its children in the trees, and
 * receives m from each of them.
 *
 * Memory: for each segment of the window, a segment for each site and for each child in the rank's
 * site.
 *
 * The order of combination depends on the latencies. The result has the same bits on all ranks and,
 * once the latencies have been measured, in all calls on a communicator; if COLL_LATENCIES is set,
 * also in other runs.
 *
 * Source: Park and others.
 */
#include "config.h"

#include "hlot/sites.h"

/*
 * Returns the tree of shortest paths, there and back, from the site with the smallest maximum
 * round-trip time to another site.
 */
static hlot_tree shortest_round_trip_tree(const coll_shape *call) {
    hlot_network network;
    hlot_tree best, tree;
    hlot_sites_network(call, &network);
    for (int a = 0; a < network.sites; a++)
        for (int b = 0; b < a; b++)
            network.latency[a][b] = network.latency[b][a] += network.latency[a][b];
    double least = hlot_tree_make(&network, HLOT_SPT, 0, &best);
    for (int root = 1; root < network.sites; root++) {
        double time = hlot_tree_make(&network, HLOT_SPT, root, &tree);
        if (time < least) {
            least = time;
            best = tree;
        }
    }
    return best;
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    int first[HLOT_SITES_SUMMED];
    coll_trees *plan = hlot_sites_open(args, size, memory, first);
    if (plan->parent < 0) {
        const hlot_tree tree = shortest_round_trip_tree(args->shape);
        hlot_sites_join(plan, &tree, first);
    }
    return &plan->base;
}

const coll_algorithm hlot_allreduce_sites = {
    .name = "sites",
    .summary = "up a tree in each site, up and down HLOT's tree between sites, and down again",
    .params = HLOT_SITES_PARAMS,
    .applicable = hlot_sites_apply,
    .planner = &(const coll_planner){.size = hlot_sites_size, .plan = make_plan},
    .prepare = hlot_sites_prepare,
};
