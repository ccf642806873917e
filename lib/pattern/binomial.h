/* SPDX-License-Identifier: BSD-3-Clause */
/* Binomial trees over positions 0..p-1, with the root at 0. Pure arithmetic. */
#ifndef COLL_LIB_PATTERN_BINOMIAL_H
#define COLL_LIB_PATTERN_BINOMIAL_H

/* Returns ceil(log2 p), the rounds in which a message reaches p positions; p must be at least 1. */
int coll_tree_depth(int p);

/*
 * The binomial tree whose subtrees are runs of consecutive positions. Sets *PARENT (-1 at position
 * 0) and CHILDREN, which needs room for 31, in the order in which to send: the farthest child
 * first, which has the largest subtree unless P cuts that off. Returns the number of children.
 */
int coll_tree_binomial(int p, int position, int *parent, int children[]);

/* Returns the first position after the subtree of POSITION. */
int coll_tree_binomial_end(int p, int position);

#endif
