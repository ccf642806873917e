/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast trees over sites, made from the latencies between them. Pure: no MPI, no allocation.
 *
 * Times follow the LogP terms of Park and others. A site that has the first segment at time t sends
 * it to its children one after the other. The k-th child (from 1) has it at
 *
 *     t + k gap + latency                                                               (eq. 2)
 *
 * where the gap is the time for which one send occupies the sender: its overhead and its bytes. The
 * other segments follow at the rate of the slowest site on the path: one segment every (children x
 * gap). With a gap of 0 and one segment, the time is the sum of latencies (eq. 3 and 4), as in the
 * paper's figures.
 *
 * Source: Park and others, figure 3 and eq. 1 to 4.
 */
#ifndef COLL_HLOT_TREE_H
#define COLL_HLOT_TREE_H

#include "lib/cost/profile.h"

#include <stdbool.h>

/* The largest number of sites of a network. */
enum { HLOT_SITES = 64 };

/* From row to column; INFINITY if there is no link. The diagonal is ignored. */
typedef double hlot_latencies[HLOT_SITES][HLOT_SITES];

/* The network for which a tree is built. Latencies and gap are in the same, arbitrary unit. */
typedef struct hlot_network {
    int sites;
    hlot_latencies latency;
    double gap;      /* the sender's time for each segment and child */
    double segments; /* 1 or more */
} hlot_network;

typedef enum hlot_kind {
    HLOT_PAPER,    /* figure 3: Prim's tree, but no path slower than the direct link */
    HLOT_PLUS,     /* the best of all kinds here, improved site by site */
    HLOT_FLAT,     /* the root sends to all */
    HLOT_BINOMIAL, /* over the sites in ascending order from the root, cyclically */
    HLOT_MST,      /* Prim's minimum spanning tree */
    HLOT_SPT,      /* shortest paths: with a gap of 0, no tree is faster */
    HLOT_KINDS
} hlot_kind;

typedef struct hlot_tree {
    int sites, root;
    int parent[HLOT_SITES]; /* -1 at the root */
    /*
     * the root, then every site after its parent; children of one site are consecutive, in the
     * order in which it sends to them: the one with the longest remaining path first
     */
    int order[HLOT_SITES];
} hlot_tree;

/* Returns "hlot", "hlot+", "flat", "binomial", "mst" or "spt", or NULL after the last. */
const char *hlot_kind_name(int kind);

/*
 * Marks in LOST, unless LOST is NULL, the sites to which no path from ROOT leads. Returns how many
 * there are.
 */
int hlot_unreachable(const hlot_network *network, int root, bool lost[]);

/*
 * Makes the tree of KIND and returns its time, or INFINITY if the tree uses a link that does not
 * exist. All sites must be reachable from ROOT; hlot, hlot+, mst and spt then use existing links
 * only.
 */
double hlot_tree_make(const hlot_network *network, hlot_kind kind, int root, hlot_tree *tree);

/*
 * Sets ARRIVAL to the times at which the last segment arrives at each site, counted from the root's
 * start. Returns the latest of these times.
 */
double hlot_tree_time(const hlot_network *network, const hlot_tree *tree,
                      double arrival[HLOT_SITES]);

/*
 * Sets CHILDREN to the children of SITE, which are consecutive in the tree's order. Returns how
 * many there are.
 */
int hlot_tree_children(const hlot_tree *tree, int site, const int **children);

/* Sets TREE's ORDER; SITES, ROOT and PARENT must be set. */
void hlot_tree_arrange(const hlot_network *network, hlot_tree *tree);

/*
 * Sets the gap, in seconds, and the number of segments of NETWORK for a message of BYTES over links
 * with the cost of LINK. Returns the size of a segment in bytes: SEGMENT, but at most BYTES, or the
 * best size if SEGMENT is 0.
 */
size_t hlot_network_load(const coll_cost *link, uint64_t segment, size_t bytes,
                         hlot_network *network);

#endif
