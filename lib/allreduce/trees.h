/*
 * Plans in which sums go up trees, the trees' roots exchange theirs by recursive doubling, and the
 * results go down again: all of the data, segment by segment, each in a round of its own.
 */
#ifndef COLL_LIB_ALLREDUCE_TREES_H
#define COLL_LIB_ALLREDUCE_TREES_H

#include "lib/schedule/plan.h"

/* What all algorithms of such plans have: so many segments are under way. */
#define COLL_TREES_PARAMS(segments)                                                                \
    {                                                                                              \
        COLL_PARAM_SEGMENT("bytes that go on at a time, at most", 32 << 10),                       \
            COLL_PARAM_WINDOW("segments under way at a time", segments)                            \
    }

enum { COLL_TREES_CHILDREN = 64, COLL_TREES_PEERS = 31 };

/* A round as it is written. */
typedef struct coll_trees_draft {
    coll_step *steps;
    int count;
    int changed;         /* the last step that changed the data; -1: none yet */
    size_t from, length; /* of the data */
} coll_trees_draft;

/* Whom one rank meets: all by rank. */
typedef struct coll_trees {
    coll_plan base;
    int parent;                               /* -1: it is a root */
    int children, child[COLL_TREES_CHILDREN]; /* in the order in which their sums are added */
    int peers, peer[COLL_TREES_PEERS];        /* of a root */
    bool before[COLL_TREES_PEERS];            /* the peer's sum comes before the own one */
    /* Adds what happens between up and down: roots meet their peers, or something else, for which
     * the segments behind those of the children are free. */
    void (*meet)(const struct coll_trees *plan, coll_trees_draft *d);
} coll_trees;

/* Adds STEP, which comes after step AFTER of the round unless that is -1. */
coll_step *coll_trees_add(coll_trees_draft *d, coll_step step, int after);

/* The measures where no rank receives from more than MOST others on the way up. */
coll_plan_size coll_trees_size(const coll_part *part, int most);

/* A plan of a rank that meets nobody as yet, in MEMORY of coll_trees_size. */
coll_trees *coll_trees_open(const coll_part *part, coll_plan_size size, void *memory);

/*
 * The first ranks of all UNITs join: those within the same WHOLE in a binomial tree whose subtrees
 * are runs of the line; or all by recursive doubling, in pairs first where they are no power of
 * two. In order either way. Nothing for ranks that have a parent already.
 */
void coll_trees_join(coll_trees *plan, coll_unit unit, coll_unit whole);
void coll_trees_double(coll_trees *plan, coll_unit unit);

/* From how many others a rank receives that joins, or doubles, at most; the same on all ranks. */
int coll_trees_depth(const coll_part *part, coll_unit unit, coll_unit whole);

#endif
