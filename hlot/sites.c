/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hlot/sites.h"

#include "hlot/site_state.h"

#include <math.h>

/*
 * A plan depends on all ranks, and each rank's plan is different: with more ranks, estimating the
 * time of all plans would take too long.
 */
enum { RANKS_MOST = 2048 };

bool hlot_sites_apply(const coll_shape *call) {
    const coll_topo *topo = call->topo;
    return !call->ordered && hlot_site_state_possible(topo) && topo->sites <= HLOT_SITES_SUMMED &&
           topo->ranks <= RANKS_MOST;
}

int hlot_sites_prepare(coll_comm *comm) {
    hlot_site_state *site_state;
    return hlot_site_state_get(comm, true, &site_state);
}

int hlot_sites_children(const coll_plan_args *args) {
    return coll_trees_depth(args, COLL_UNIT_RANK, COLL_UNIT_NODE) +
           coll_trees_depth(args, COLL_UNIT_NODE, COLL_UNIT_RACK) +
           coll_trees_depth(args, COLL_UNIT_RACK, COLL_UNIT_SITE) + args->shape->topo->sites;
}

coll_plan_size hlot_sites_size(const coll_plan_args *args) {
    return coll_trees_size(args, hlot_sites_children(args));
}

/* Returns the site of the rank whose plan ARGS describes. */
static int own_site(const coll_plan_args *args) {
    return args->shape->topo->places[args->line->order[args->line->position]].site;
}

static void find_first(const coll_plan_args *args, int first[]) {
    const coll_topo *topo = args->shape->topo;
    for (int i = 0; i < topo->ranks; i++)
        if (coll_rank_order_begins(args->line, topo, i, COLL_UNIT_SITE))
            first[topo->places[args->line->order[i]].site] = args->line->order[i];
}

coll_trees *hlot_sites_open(const coll_plan_args *args, coll_plan_size size, void *memory,
                            int first[]) {
    coll_trees *plan = coll_trees_open(args, size, memory);
    coll_trees_join(plan, COLL_UNIT_RANK, COLL_UNIT_NODE);
    coll_trees_join(plan, COLL_UNIT_NODE, COLL_UNIT_RACK);
    coll_trees_join(plan, COLL_UNIT_RACK, COLL_UNIT_SITE);
    if (plan->parent < 0)
        find_first(args, first);
    return plan;
}

/* The child with the shortest remaining path comes first: its sum is expected first. */
void hlot_sites_join(coll_trees *plan, const hlot_tree *tree, const int first[]) {
    const int site = own_site(plan->base.args), *children;
    int count = hlot_tree_children(tree, site, &children);
    while (count > 0)
        plan->child[plan->children++] = first[children[--count]];
    if (tree->parent[site] >= 0)
        plan->parent = first[tree->parent[site]];
}

void hlot_sites_network(const coll_shape *call, hlot_network *network) {
    hlot_site_state_network(call, network);
    network->gap = 0;
    network->segments = 1;
    for (int from = 0; from < network->sites; from++)
        for (int to = 0; to < network->sites; to++)
            network->latency[from][to] = rint(network->latency[from][to] * 1e9);
}

/*
 * Inserts V into the first COUNT messages of ALL, which are sorted by arrival, behind messages that
 * arrive at the same time.
 */
static void insert_by_arrival(hlot_site_message all[], int count, hlot_site_message v) {
    for (; count > 0 && all[count - 1].arrival > v.arrival; count--)
        all[count] = all[count - 1];
    all[count] = v;
}

void hlot_sites_messages(const coll_plan_args *args, const int first[],
                         hlot_site_message messages[], int ranks[]) {
    const int site = own_site(args);
    hlot_network network;
    hlot_sites_network(args->shape, &network);
    for (int from = 0; from < network.sites; from++) {
        hlot_tree tree;
        double arrival[HLOT_SITES];
        const int *children;
        hlot_tree_make(&network, HLOT_SPT, from, &tree);
        hlot_tree_time(&network, &tree, arrival);
        hlot_site_message v = {.site = from,
                               .arrival = arrival[site],
                               .from = from == site ? -1 : first[tree.parent[site]],
                               .to_count = hlot_tree_children(&tree, site, &children),
                               .to = ranks};
        for (int i = 0; i < v.to_count; i++)
            *ranks++ = first[children[i]];
        insert_by_arrival(messages, from, v);
    }
}
