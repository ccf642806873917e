/*
 * Racks and sites from round trips between pairs of nodes. No MPI.
 *
 * The nodes are merged along the measured pairs, the fastest first (single linkage, Kruskal's order
 * of the minimum spanning tree), which gives one partition after each merge. Sites are the
 * partition before the first merge that takes several times as long as the one before it. Racks
 * are, within the sites, the partition that best parts the pairs inside a group from those across:
 * the one with the largest sum of squares between these two classes.
 *
 * Whether a pair counts as inside follows from the groups, not from its own time. Noise, which only
 * ever adds to the least round trip, thus splits a rack only where it spoils all pairs of a node.
 */
#ifndef COLL_LIB_PLACE_CLUSTER_H
#define COLL_LIB_PLACE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

/* What was measured between nodes A and B, which differ. */
typedef struct coll_pair {
    int a, b;
    double seconds; /* the least round trip; more than 0 */
} coll_pair;

typedef struct coll_clusters {
    int racks, sites;
    double near, far; /* s: medians inside racks, and across them within a site; far 0: no racks */
} coll_clusters;

/*
 * Numbers the racks and sites of NODES nodes from 0, in order of first appearance; racks are unique
 * over all sites. Sorts PAIRS by time. Where no clear difference tells racks apart, each site is
 * one rack, and far is 0. False, with nothing set, when memory is short.
 */
bool coll_cluster(int nodes, int count, coll_pair pairs[], int racks[], int sites[],
                  coll_clusters *found);

/*
 * Numbers anew, from 0 by first appearance, COUNT numbers from FIRST on, STRIDE bytes apart, that
 * were below BEFORE; returns how many there are. MAP has room for BEFORE numbers.
 */
int coll_cluster_renumber(int *first, size_t stride, int count, int before, int map[]);

#endif
