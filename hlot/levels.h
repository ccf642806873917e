/*
 * The five levels of the paper, from far to near:
 *
 *     heavy wide area   between groups of sites: links that differ by much     HLOT's tree
 *     light wide area   between the sites of a group: near and alike           flat
 *     local network     between the nodes of a site                           \  the algorithm of
 * the host's TCP        between ranks of a node that share no memory           > table that is
 * least shared memory     between ranks of a node that do                       /  predicted
 *
 * The two wide levels are told apart here, by latencies; sites come from COLL_TOPOLOGY. Which of
 * the two last ones joins the ranks of a node is up to the MPI library. Pure: no MPI.
 */
#ifndef COLL_HLOT_LEVELS_H
#define COLL_HLOT_LEVELS_H

#include "hlot/tree.h"

/*
 * Numbers the groups of NETWORK's sites from 0, by first appearance, and returns how many there
 * are. Sites are in one group where the latencies between groups, in both directions together, are
 * several times those inside. Where nothing tells groups apart each site is one by itself: all
 * links are heavy.
 */
int hlot_levels_group(const hlot_network *network, int groups[]);

/*
 * Makes the tree that enters each group once, at the site with the fastest link from ROOT: KIND
 * over those sites, then flat within the groups. Where the tree of KIND over all sites is faster
 * than that it is this one. Returns its time, as hlot_tree_make does.
 */
double hlot_levels_tree(const hlot_network *network, hlot_kind kind, int root, hlot_tree *tree);

#endif
