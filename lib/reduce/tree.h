/*
 * Plans up a tree: a rank puts each segment together from its own data and its children's sums, and
 * sends it on to its parent; the root ends with it.
 *
 * Ranks stand in the line, on one side of the root or, where they keep their order, on both. A sum
 * is always of a run of neighbours: a rank's own data first, then the children's, the nearest
 * first, each on its side. So the order is that of the line, in every run.
 */
#ifndef COLL_LIB_REDUCE_TREE_H
#define COLL_LIB_REDUCE_TREE_H

#include "lib/schedule/plan.h"

/* Whom a rank meets in a tree, its children the nearest first. */
typedef struct coll_kin {
    int parent;           /* -1: this is the root */
    int children, behind; /* so many of them stand behind this rank in the line; they come first */
    const int *child;
    int lane, segment; /* the first segment of memory, of as many as there are children */
} coll_kin;

/* Writes the steps that add up WHAT and send it on, behind COUNT others; how many there are then.
 * The sum lies in KIN's first segment, what comes from a child in one of its own. */
int coll_reduce_up(const coll_kin *kin, coll_range what, coll_step steps[], int count);

enum { COLL_TREE_CHILDREN = 31 }; /* on each side, at most */

/* A tree over positions 0 to P - 1 whose subtrees are runs of them; as coll_tree_binomial, but
 * CHILDREN come nearest first. */
typedef int coll_tree(int p, int position, int *parent, int children[]);

/* The measures of plans in segments of SEGMENT, WINDOW under way, whose ranks have at most CHILDREN
 * children on each side. */
coll_plan_size coll_reduce_tree_size(const coll_part *part, size_t segment, size_t window,
                                     int children);

/* The plan up TREE, in MEMORY. */
coll_plan *coll_reduce_tree_plan(const coll_part *part, coll_plan_size size, void *memory,
                                 coll_tree *tree);

#endif
