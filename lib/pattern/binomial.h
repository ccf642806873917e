/* Binomial trees over positions 0..p-1, the root at 0. Pure arithmetic. */
#ifndef COLL_LIB_PATTERN_BINOMIAL_H
#define COLL_LIB_PATTERN_BINOMIAL_H

/* ceil(log2 p): the rounds that a message needs to reach p positions; p is at least 1. */
int coll_tree_depth(int p);

/*
 * The binomial tree whose subtrees are runs of consecutive positions. PARENT is -1 at position 0;
 * CHILDREN, with room for 31, are in the order in which to send: the largest subtree first. Returns
 * the number of children.
 */
int coll_tree_binomial(int p, int position, int *parent, int children[]);

/* The first position after the subtree of POSITION. */
int coll_tree_binomial_end(int p, int position);

#endif
