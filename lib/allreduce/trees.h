/*
 * Plans in which sums go up trees, the trees' roots exchange theirs by recursive doubling, and the
 * results go down again: all of the data, segment by segment, each in a round of its own.
 */
#ifndef COLL_LIB_ALLREDUCE_TREES_H
#define COLL_LIB_ALLREDUCE_TREES_H

#include "lib/schedule/plan.h"

/* "segment" and "window", which all algorithms of such plans have. */
extern const coll_param coll_trees_params[];

enum { COLL_TREES_CHILDREN = 64, COLL_TREES_PEERS = 31 };

/* Whom one rank meets: all by rank. */
typedef struct coll_trees {
    coll_plan base;
    const coll_part *part;
    int parent; /* -1: it is a root */
    int children, child[COLL_TREES_CHILDREN];
    int peers, peer[COLL_TREES_PEERS]; /* of a root */
    bool before[COLL_TREES_PEERS];     /* the peer's sum comes before the own one */
} coll_trees;

/* Of what a tree consists, or what it spans. */
typedef enum coll_trees_level {
    COLL_TREES_RANK,
    COLL_TREES_NODE,
    COLL_TREES_RACK,
    COLL_TREES_ALL
} coll_trees_level;

/* The measures where no rank receives from more than MOST others on the way up. */
coll_plan_size coll_trees_size(const coll_part *part, int most);

/* A plan of a rank that meets nobody as yet, in MEMORY of coll_trees_size. */
coll_trees *coll_trees_open(const coll_part *part, coll_plan_size size, void *memory);

/*
 * The first ranks of all UNITs join: those within the same WHOLE in a binomial tree whose subtrees
 * are runs of the line; or all by recursive doubling, in pairs first where they are no power of
 * two. In order either way. Nothing for ranks that have a parent already.
 */
void coll_trees_join(coll_trees *plan, coll_trees_level unit, coll_trees_level whole);
void coll_trees_double(coll_trees *plan, coll_trees_level unit);

/* From how many others a rank receives that joins, or doubles, at most; the same on all ranks. */
int coll_trees_depth(const coll_part *part, coll_trees_level unit, coll_trees_level whole);

#endif
