/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bine trees: binomial trees whose edges are a third shorter. P positions form a ring, which is cut
 * open a third of its length before position 0, the root. A position that has the data halves the
 * run of positions that it must reach, and sends the data to its own mirror image across the
 * middle; both continue with their half.
 *
 * Distances halve and change sides. With 2^k positions the last edges of a path have the lengths
 * (1 - (-2)^i) / 3 for i = 1, 2, 3...: 1, -1, 3, -5, 11, numbers whose digits to base -2 are all
 * ones; a binomial tree has 1, 2, 4, 8, 16. Pure arithmetic.
 *
 * Source: De Sensi et al.: Bine Trees: Enhancing Collective Operations by Optimizing Communication
 * Locality, arXiv 2508.17311; mirror images work equally well for numbers other than 2^k.
 */
#ifndef COLL_LIB_PATTERN_BINE_H
#define COLL_LIB_PATTERN_BINE_H

/*
 * Sets *PARENT (-1 at position 0) and CHILDREN, which needs room for 31, in the order in which to
 * send: the root of the largest subtree first. Returns the number of children. Every position is
 * reached in ceil(log2 p) rounds.
 */
int coll_tree_bine(int p, int position, int *parent, int children[]);

#endif
