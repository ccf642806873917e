/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the kinds of trees with the best possible tree, over many random networks. Pure.
 *
 * Sites are at random places of a square. A link's latency is the distance, up to 100 ms from
 * corner to corner, times a random factor from 1 to 3, since paths in the Internet are not
 * straight. So a detour over other sites is often shorter. The random numbers come from a generator
 * in tree_quality.c: a seed gives the same result on every machine.
 */
#ifndef COLL_HLOT_TREE_QUALITY_H
#define COLL_HLOT_TREE_QUALITY_H

#include "hlot/tree.h"

#include <stdint.h>

/* Up to this number of sites, all trees are tried: 262,144 for each network of 8 sites. */
enum { HLOT_EXHAUSTED = 8 };

typedef struct hlot_tree_quality_settings {
    int sites, networks;
    uint32_t seed;
    double gap, segments; /* of all networks; GAP in s */
} hlot_tree_quality_settings;

/*
 * Times of trees divided by the time of the best tree. With more than HLOT_EXHAUSTED sites, the
 * best tree is the best one among the trees of all kinds.
 */
typedef struct hlot_tree_quality {
    double median, worst;
    int best; /* number of networks in which no tree is faster than the tree of this kind */
} hlot_tree_quality;

/* Returns the time of the fastest tree from site 0, found by trying all trees. */
double hlot_tree_quality_optimum(const hlot_network *network);

/* Determines the quality of each kind. Returns false if memory is short. */
bool hlot_tree_quality_run(const hlot_tree_quality_settings *settings,
                           hlot_tree_quality qualities[HLOT_KINDS]);

#endif
