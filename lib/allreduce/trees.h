/*
 * Plans in which sums go up trees, the trees' roots exchange theirs by recursive doubling, and the
 * results go down again: all of the data, segment by segment, each in a round of its own.
 */
#ifndef COLL_LIB_ALLREDUCE_TREES_H
#define COLL_LIB_ALLREDUCE_TREES_H

#include "lib/schedule/plan.h"

enum { COLL_TREES_SEGMENT, COLL_TREES_WINDOW }; /* parameters */
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

/* Ranks that a rank is one of: so many, the positions of which in the line PLACE tells. */
typedef struct coll_members {
    int count, index;
    int (*place)(const coll_part *part, int index);
} coll_members;

/* The measures where no rank receives from more than MOST others on the way up. */
coll_plan_size coll_trees_size(const coll_part *part, int most);

/* A plan of a rank that meets nobody as yet, in MEMORY of coll_trees_size. */
coll_trees *coll_trees_open(const coll_part *part, coll_plan_size size, void *memory);

/* A rank without a parent is one of MEMBERS of a binomial tree, whose subtrees are runs of them; or
 * of those who double, in pairs first where they are no power of two. In order either way. */
void coll_trees_join(coll_trees *plan, coll_members members);
void coll_trees_double(coll_trees *plan, coll_members members);

/* From how many others a rank that doubles among COUNT receives, at most. */
int coll_trees_doublings(int count);

#endif
