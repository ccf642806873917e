/* SPDX-License-Identifier: BSD-3-Clause */
/* Binomial and k-nomial trees over positions 0..p-1, with the root at 0. Pure arithmetic. */
#ifndef COLL_LIB_PATTERN_BINOMIAL_H
#define COLL_LIB_PATTERN_BINOMIAL_H

/* Returns ceil(log2 p), the rounds in which a message reaches p positions; p must be at least 1. */
int coll_tree_depth(int p);

/* Returns floor(log2 p), the rounds of recursive doubling among the largest power of two of
 * positions up to p; p must be at least 1. */
int coll_tree_doublings(int p);

/*
 * The binomial tree whose subtrees are runs of consecutive positions. Sets *PARENT (-1 at position
 * 0) and CHILDREN, which needs room for 31, in the order in which to send: the farthest child
 * first, which has the largest subtree unless P cuts that off. Returns the number of children.
 */
int coll_tree_binomial(int p, int position, int *parent, int children[]);

/*
 * The k-nomial tree, of which the binomial tree is the case RADIX = 2: in each round every position
 * that has the message sends it to RADIX - 1 others, so it takes coll_radix_digits(P, RADIX) rounds
 * (lib/pattern/radix.h). With a RADIX of P all others are children of position 0. Subtrees are runs
 * of consecutive positions. CHILDREN needs room for RADIX - 1 children in each round.
 */
int coll_tree_knomial(int p, int radix, int position, int *parent, int children[]);

/* Returns the first position after the subtree of POSITION, in the k-nomial tree of RADIX. */
int coll_tree_knomial_end(int p, int radix, int position);

/* Returns the same of the binomial tree. */
int coll_tree_binomial_end(int p, int position);

#endif
