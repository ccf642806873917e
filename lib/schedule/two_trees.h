/*
 * The places of a call's ranks in two trees over the nodes, in which every node is an inner node of
 * one tree and a leaf of the other, and each tree enters each rack once (lib/pattern/twotree.h). In
 * a node, the rank that is first in the chain order has the node's place in both trees; the others
 * follow it as a chain.
 */
#ifndef COLL_LIB_SCHEDULE_TWO_TREES_H
#define COLL_LIB_SCHEDULE_TWO_TREES_H

#include "lib/schedule/plan.h"

/* In a tree a rank has two children, and the next rank of its node. */
enum { COLL_TWO_TREES = 2, COLL_TWO_TREES_CHILDREN = 3 };

/* A rank's place in one tree: whom it meets. */
typedef struct coll_branch {
    int parent; /* -1: this is the root */
    int children, child[COLL_TWO_TREES_CHILDREN];
} coll_branch;

/* A plan by two trees. Round I is about segment I of each: tree t has segments t, t + 2, t + 4...
 */
typedef struct coll_two_trees {
    coll_plan base;
    coll_branch branch[COLL_TWO_TREES];
} coll_two_trees;

/* The hops from the root to the farthest rank. */
double coll_two_trees_depth(const coll_topo *topo);

/* The measures of plans in segments of SEGMENT with WINDOW rounds under way, at most, of which each
 * has so many STEPS and SEGMENTS. */
coll_plan_size coll_two_trees_size(const coll_part *part, size_t segment, size_t window, int steps,
                                   int segments);

/* The plan of PART in MEMORY, whose rounds are written by ROUND. */
coll_plan *coll_two_trees_plan(const coll_part *part, coll_plan_size size, void *memory,
                               coll_round *round);

/* The segment that tree T has in ROUND; of length 0 where there is none left. */
coll_range coll_two_trees_segment(const coll_two_trees *plan, int t, uint64_t round);

#endif
