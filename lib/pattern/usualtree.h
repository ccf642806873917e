/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trees over positions 0..p-1, with the root at 0, down which MPI libraries send whole
 * messages. They ignore racks: a position's children may be any distance away. Pure arithmetic.
 */
#ifndef COLL_LIB_PATTERN_USUALTREE_H
#define COLL_LIB_PATTERN_USUALTREE_H

enum { COLL_USUAL_CHILDREN = 48 };

/*
 * Sets *PARENT (-1 at position 0) and CHILDREN, which needs room for COLL_USUAL_CHILDREN, in the
 * order in which to send. Returns the number of children. Source: Open MPI, coll_base_topo.c.
 */
typedef int coll_usual_tree(int p, int position, int *parent, int children[]);

/* All other positions are children of position 0; P must be at most COLL_USUAL_CHILDREN + 1. */
coll_usual_tree coll_usual_flat;

/* Each position has the next one as its only child. */
coll_usual_tree coll_usual_line;

/* Level by level: the two children of a position in a level of d positions are d and 2 d away. */
coll_usual_tree coll_usual_binary;

/* Binary, and each subtree is a run of neighbours. In Open MPI the last rank is at position 0, and
 * sends its result on to the root of the call, which predictions leave out. */
coll_usual_tree coll_usual_in_order;

/*
 * Binomial: children are 1, 2, 4, ... away, farther than the parent is. Quadrinomial: children are
 * 1, 2 and 3 times 4^k away, nearer than the parent is.
 */
coll_usual_tree coll_usual_binomial, coll_usual_quadrinomial;

#endif
