/*
 * The trees over positions 0..p-1, the root at 0, down which MPI libraries send whole messages. Not
 * made for racks: a position's children may be any distance away. Pure arithmetic.
 */
#ifndef COLL_LIB_PATTERN_USUALTREE_H
#define COLL_LIB_PATTERN_USUALTREE_H

typedef enum coll_usual_tree {
    COLL_USUAL_LINE,        /* each position has the next one as its only child */
    COLL_USUAL_FOUR_CHAINS, /* the root has the heads of four lines */
    COLL_USUAL_BINARY,      /* by levels: child i + 1 of a level of d positions is (i + 1) d away */
    COLL_USUAL_BINOMIAL,    /* children are 1, 2, 4, ... away, farther than the parent is */
    COLL_USUAL_QUADRINOMIAL /* children are 1, 2, 3 times 4^k away, nearer than the parent is */
} coll_usual_tree;

enum { COLL_USUAL_CHILDREN = 48 };

/*
 * PARENT is -1 at position 0; CHILDREN, with room for COLL_USUAL_CHILDREN, are in the order in
 * which to send. Returns their number. Source: Open MPI, coll_base_topo.c.
 */
int coll_usual_tree_at(coll_usual_tree tree, int p, int position, int *parent, int children[]);

#endif
