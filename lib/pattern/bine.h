/*
 * Bine trees: binomial trees whose edges are a third shorter. P positions form a ring, cut open a
 * third of it before position 0, the root. Who has the data halves the run of positions that it is
 * to reach, and passes on the other half to its own mirror image across the middle; both go on so.
 *
 * Distances halve and change sides. With 2^k positions the last edges of a path are (1 - (-2)^i) /
 * 3 long for i = 1, 2, 3...: 1, -1, 3, -5, 11, numbers whose digits to base -2 are all ones; a
 * binomial tree has 1, 2, 4, 8, 16. Pure arithmetic.
 *
 * Source: De Sensi et al.: Bine Trees: Enhancing Collective Operations by Optimizing Communication
 * Locality, arXiv 2508.17311; mirror images do as well for other numbers than 2^k.
 */
#ifndef COLL_LIB_PATTERN_BINE_H
#define COLL_LIB_PATTERN_BINE_H

/*
 * PARENT is -1 at position 0; CHILDREN, with room for 31, are in the order in which to send: the
 * largest subtree first. Returns the number of children. Every position is reached in ceil(log2 p)
 * rounds.
 */
int coll_tree_bine(int p, int position, int *parent, int children[]);

#endif
