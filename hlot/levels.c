/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "hlot/levels.h"

#include "lib/topology/topo.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum { MOST_LINKS = HLOT_SITES * (HLOT_SITES - 1) / 2 };

/*
 * Round trips between groups take at least GROUP_FACTOR times as long as within groups, and at
 * least GROUP_LEAST seconds.
 */
static const double GROUP_FACTOR = 4, GROUP_LEAST = 200e-6;

static int make_single_groups(int sites, int groups[]) {
    for (int site = 0; site < sites; site++)
        groups[site] = site;
    return sites;
}

/* A link between sites A and B, and the seconds of a round trip. */
typedef struct connection {
    int a, b;
    double seconds;
} connection;

static int compare_time(const void *a, const void *b) {
    double one = ((const connection *)a)->seconds, other = ((const connection *)b)->seconds;
    return (one > other) - (one < other);
}

/* Merges the groups of sites A and B. */
static void merge_groups(int sites, int groups[], int a, int b) {
    int from = groups[b], to = groups[a];
    for (int site = 0; site < sites; site++)
        if (groups[site] == from)
            groups[site] = to;
}

/*
 * Merges sites along their links, the fastest first, until the next link is so much slower that it
 * must be a link between groups.
 */
int hlot_levels_group(const hlot_network *network, int groups[]) {
    connection links[MOST_LINKS];
    int map[HLOT_SITES], count = 0, sites = network->sites;
    double last = 0;
    for (int a = 0; a < sites; a++)
        for (int b = a + 1; b < sites; b++) {
            double seconds = network->latency[a][b] + network->latency[b][a];
            if (seconds > 0 && seconds < INFINITY)
                links[count++] = (connection){a, b, seconds};
        }
    qsort(links, (size_t)count, sizeof *links, compare_time);
    make_single_groups(sites, groups);
    for (int i = 0; i < count; i++) {
        double now = links[i].seconds;
        if (groups[links[i].a] == groups[links[i].b])
            continue;
        if (last > 0 && now >= GROUP_FACTOR * last && now >= GROUP_LEAST)
            break;
        merge_groups(sites, groups, links[i].a, links[i].b);
        last = now;
    }
    int found = coll_topo_renumber(groups, sizeof *groups, sites, sites, map);
    return found > 1 ? found : make_single_groups(sites, groups);
}

/* Finds each group's entry: ROOT or, in other groups, the site with the fastest link from ROOT. */
static void find_entries(const hlot_network *network, int root, const int groups[], int entries[]) {
    for (int site = network->sites - 1; site >= 0; site--)
        entries[groups[site]] = site;
    for (int site = 0; site < network->sites; site++)
        if (network->latency[root][site] < network->latency[root][entries[groups[site]]])
            entries[groups[site]] = site;
    entries[groups[root]] = root;
}

static void copy_subnetwork(const hlot_network *network, int count, const int sites[],
                            hlot_network *part) {
    part->sites = count;
    part->gap = network->gap;
    part->segments = network->segments;
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++)
            part->latency[a][b] = network->latency[sites[a]][sites[b]];
}

/*
 * Makes a tree over the groups and within them. Returns false if no path over entries alone leads
 * from the root to some entry.
 */
static bool make_two_level_tree(const hlot_network *network, hlot_kind kind, int count,
                                const int groups[], hlot_tree *tree) {
    int entries[HLOT_SITES];
    hlot_network heavy;
    hlot_tree above;
    find_entries(network, tree->root, groups, entries);
    copy_subnetwork(network, count, entries, &heavy);
    if (hlot_unreachable(&heavy, groups[tree->root], NULL))
        return false;
    hlot_tree_make(&heavy, kind, groups[tree->root], &above);
    for (int site = 0; site < network->sites; site++)
        tree->parent[site] = entries[groups[site]];
    for (int group = 0; group < count; group++) {
        int parent = above.parent[group];
        tree->parent[entries[group]] = parent < 0 ? -1 : entries[parent];
    }
    hlot_tree_arrange(network, tree);
    return true;
}

double hlot_levels_tree(const hlot_network *network, hlot_kind kind, int root, hlot_tree *tree) {
    int groups[HLOT_SITES];
    double arrival[HLOT_SITES], time = hlot_tree_make(network, kind, root, tree);
    int count = hlot_levels_group(network, groups);
    hlot_tree levelled = {.sites = network->sites, .root = root};
    if (count == network->sites || !make_two_level_tree(network, kind, count, groups, &levelled))
        return time;
    double made = hlot_tree_time(network, &levelled, arrival);
    if (made > time)
        return time;
    *tree = levelled;
    return made;
}
