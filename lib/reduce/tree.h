/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans that reduce up a tree: a rank combines each segment of its own data with its children's
 * sums and sends the result to its parent; the root keeps it.
 *
 * Ranks are in the order of the line, on one side of the root or, if rank order must be kept, on
 * both. On each side, a rank adds its children's sums to its own data, the nearest child's first.
 * If subtrees are runs of positions, operands are thus combined in the order of the line.
 */
#ifndef COLL_LIB_REDUCE_TREE_H
#define COLL_LIB_REDUCE_TREE_H

#include "lib/plan/plan.h"

/* A rank's parent and children in a tree; the nearest child comes first. */
typedef struct coll_kin {
    int parent;           /* -1: this is the root */
    int children, behind; /* the first BEHIND children follow this rank in the line */
    const int *child;
    /* SEGMENT is the first of the segments of scratch memory, one for each child */
    int lane, segment;
} coll_kin;

/*
 * Writes the steps that sum up WHAT and send the sum to the parent (at the root: copy it to the
 * data), after COUNT other steps; returns the new count. Each child's contribution arrives in a
 * segment of its own. The first of these segments then holds the sum.
 */
int coll_reduce_up(const coll_kin *kin, coll_range what, coll_step steps[], int count);

enum { COLL_TREE_CHILDREN = 31 }; /* most children on each side */

/*
 * A tree over positions 0 to P - 1, with the arguments and the result of coll_tree_binomial, but
 * the nearest child comes first. If operands must be combined in order, subtrees must be runs of
 * positions.
 */
typedef int coll_tree(int p, int position, int *parent, int children[]);

/*
 * Returns the size of a plan in segments of SEGMENT bytes, with WINDOW rounds in flight, whose
 * ranks have at most CHILDREN children on each side.
 */
coll_plan_size coll_reduce_tree_size(const coll_plan_args *args, size_t segment, size_t window,
                                     int children);

/* Creates the plan for TREE in MEMORY. */
coll_plan *coll_reduce_tree_plan(const coll_plan_args *args, coll_plan_size size, void *memory,
                                 coll_tree *tree);

#endif
