/*
 * Broadcast trees over sites from the latencies between them. Pure: no MPI, no memory.
 *
 * A tree's times follow the paper's LogP terms. A site that has the first segment at t sends it to
 * its children one after the other, and the k-th of them (from 1) has it at
 *
 *     t + k gap + latency                                                               (eq. 2)
 *
 * where the gap is what one send occupies the sender for: its overhead and its bytes. The other
 * segments follow at the pace of the slowest site on the way, children x gap each. With a gap of 0
 * and one segment that is the sum of latencies alone (eq. 3 and 4), in which the paper states its
 * figures.
 *
 * Source: Park and others: An Efficient Collective Communication Method for Grid Scale Networks.
 */
#ifndef COLL_HLOT_TREE_H
#define COLL_HLOT_TREE_H

#include "lib/cost/profile.h"

#include <stdbool.h>

/* The most sites that a network may have. */
enum { HLOT_SITES = 64 };

/* From row to column; INFINITY where there is no way. The diagonal is not looked at. */
typedef double hlot_latencies[HLOT_SITES][HLOT_SITES];

/* What a tree is made for; latencies and gap in the same unit, any. */
typedef struct hlot_network {
    int sites;
    hlot_latencies latency;
    double gap;      /* the sender's time for each segment and child */
    double segments; /* 1 or more */
} hlot_network;

typedef enum hlot_kind {
    HLOT_PAPER,    /* figure 3: Prim's tree, but no path slower than the direct link */
    HLOT_PLUS,     /* the best of all that are known here, made better site by site */
    HLOT_FLAT,     /* the root sends to all */
    HLOT_BINOMIAL, /* over the sites in ascending order from the root, around */
    HLOT_MST,      /* Prim's minimum spanning tree */
    HLOT_SPT,      /* shortest paths: with a gap of 0, no tree is faster */
    HLOT_KINDS
} hlot_kind;

typedef struct hlot_tree {
    int sites, root;
    int parent[HLOT_SITES]; /* -1 at the root */
    int order[HLOT_SITES];  /* the root, then every site after its parent; sites of one parent stand
                               together, in the order in which it sends to them: longest way first */
} hlot_tree;

/* "hlot", "hlot+", "flat", "binomial", "mst", "spt"; NULL after the last. */
const char *hlot_kind_name(int kind);

/*
 * Marks in LOST the sites that no path from ROOT leads to, and returns how many they are. LOST may
 * be NULL.
 */
int hlot_unreachable(const hlot_network *network, int root, bool lost[]);

/*
 * Makes the tree of KIND and returns its time, INFINITY where it uses a link that is not there. No
 * site may be unreachable from ROOT; hlot, hlot+, mst and spt then use only links that are there.
 */
double hlot_tree_make(const hlot_network *network, hlot_kind kind, int root, hlot_tree *tree);

/* When the last segment is at each site, from the root's start; returns the latest. */
double hlot_tree_time(const hlot_network *network, const hlot_tree *tree,
                      double arrival[HLOT_SITES]);

/* Sets CHILDREN to where the children of SITE stand in the order, and returns how many they are. */
int hlot_tree_children(const hlot_tree *tree, int site, const int **children);

/* Orders the sites of a tree of which PARENT, SITES and ROOT are set, as order says. */
void hlot_tree_arrange(const hlot_network *network, hlot_tree *tree);

/*
 * Sets the gap and the number of segments of NETWORK, in seconds, for a message of BYTES over links
 * that cost like LINK, and returns the bytes of a segment: SEGMENT, or the best one where that is
 * 0.
 */
size_t hlot_network_load(const coll_cost *link, uint64_t segment, size_t bytes,
                         hlot_network *network);

#endif
