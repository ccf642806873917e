/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans over two trees of nodes. Nearly every node is an inner node of one tree and a leaf of the
 * other (the root, and the last node of some racks, have a child in both), and each tree enters
 * each rack once (lib/pattern/twotree.h). Within a node, the first rank in chain order has the
 * node's place in both trees; the others follow it as a chain.
 */
#ifndef COLL_LIB_PLAN_TWO_TREES_H
#define COLL_LIB_PLAN_TWO_TREES_H

#include "lib/plan/plan.h"

/* A rank has up to two children in a tree, and the next rank of its node. */
enum { COLL_TWO_TREES = 2, COLL_TWO_TREES_CHILDREN = 3 };

/* A rank's neighbours in one tree. */
typedef struct coll_branch {
    int parent; /* -1: this is the root */
    int children, child[COLL_TWO_TREES_CHILDREN];
} coll_branch;

/* A plan over two trees. Tree t moves the segments t, t + 2, t + 4, ...; round I moves segment I of
 * each tree. */
typedef struct coll_two_trees {
    coll_plan base;
    coll_branch branch[COLL_TWO_TREES];
} coll_two_trees;

/* Returns about how many hops the root is from the farthest rank. */
double coll_two_trees_depth(const coll_topo *topo);

/* Returns the sizes of a plan for data segments of SEGMENT bytes, with at most WINDOW rounds under
 * way. A round has at most STEPS steps, and SEGMENTS segments of scratch memory. */
coll_plan_size coll_two_trees_size(const coll_plan_args *args, size_t segment, size_t window,
                                   int steps, int segments);

/* Makes a plan of ARGS in MEMORY; ROUND writes its rounds. */
coll_plan *coll_two_trees_plan(const coll_plan_args *args, coll_plan_size size, void *memory,
                               coll_round *round);

/* Returns the segment that tree T moves in ROUND; its length is 0 if tree T has none left. */
coll_range coll_two_trees_segment(const coll_two_trees *plan, int t, uint64_t round);

#endif
