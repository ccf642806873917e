/*
 * The trees over positions 0..p-1, the root at 0, down which MPI libraries send whole messages. Not
 * made for racks: a position's children may be any distance away. Pure arithmetic.
 */
#ifndef COLL_LIB_PATTERN_USUALTREE_H
#define COLL_LIB_PATTERN_USUALTREE_H

enum { COLL_USUAL_CHILDREN = 48 };

/*
 * PARENT is -1 at position 0; CHILDREN, with room for COLL_USUAL_CHILDREN, are in the order in
 * which to send. Returns their number. Source: Open MPI, coll_base_topo.c.
 */
typedef int coll_usual_tree(int p, int position, int *parent, int children[]);

/* Each position has the next one as its only child. */
coll_usual_tree coll_usual_line;

/* By levels: child i + 1 of a level of d positions is (i + 1) d away. */
coll_usual_tree coll_usual_binary;

/* Children are 1, 2, 4, ... away, farther than the parent is; or 1, 2, 3 times 4^k, nearer. */
coll_usual_tree coll_usual_binomial, coll_usual_quadrinomial;

#endif
