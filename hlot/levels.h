/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The five levels of Park and others, from far to near:
 *
 *     heavy wide area   between groups of sites: links that differ much       HLOT's tree
 *     light wide area   between the sites of a group, near each other         flat
 *     local network     between the nodes of a site                        \  the table's
 *     host's TCP        between ranks of a node without shared memory       > algorithm with the
 *     shared memory     between ranks of a node with shared memory         /  least predicted time
 *
 * This file distinguishes the two wide-area levels by latencies. The sites come from COLL_TOPOLOGY.
 * The MPI library decides which of the last two levels connects the ranks of a node. Pure: no MPI.
 */
#ifndef COLL_HLOT_LEVELS_H
#define COLL_HLOT_LEVELS_H

#include "hlot/tree.h"

/*
 * Numbers the groups of NETWORK's sites from 0, in the order of their first sites, and returns how
 * many there are. Groups are formed if round trips between them take several times as long as round
 * trips within them. Otherwise each site is a group of its own: all links are heavy.
 */
int hlot_levels_group(const hlot_network *network, int groups[]);

/*
 * Makes the tree that enters each group once, at the site with the fastest link from ROOT: a tree
 * of KIND over these sites, and flat within the groups. If the tree of KIND over all sites is
 * faster, makes that tree instead. Returns its time, as hlot_tree_make does.
 */
double hlot_levels_tree(const hlot_network *network, hlot_kind kind, int root, hlot_tree *tree);

#endif
