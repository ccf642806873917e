/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans in which sums go up trees, the roots of the trees exchange their sums by recursive
 * doubling, and the results go down again. The data moves in segments, each in a round of its own.
 */
#ifndef COLL_LIB_ALLREDUCE_TREES_H
#define COLL_LIB_ALLREDUCE_TREES_H

#include "lib/plan/plan.h"

/* The parameters of algorithms with such plans; the default window is SEGMENTS. */
#define COLL_TREES_PARAMS(segments)                                                                \
    {                                                                                              \
        COLL_PARAM_SEGMENT("most bytes that are forwarded at a time", 32 << 10),                   \
            COLL_PARAM_WINDOW("segments in flight", segments)                                      \
    }

enum { COLL_TREES_CHILDREN = 64, COLL_TREES_PEERS = 31 };

/* A round being written. */
typedef struct coll_trees_draft {
    coll_step *steps;
    int count;
    int changed;         /* index of the last step that changed the data; -1: none yet */
    size_t from, length; /* the range of the data */
} coll_trees_draft;

/* The ranks with which one rank communicates, by rank number. */
typedef struct coll_trees {
    coll_plan base;
    int parent;                               /* -1: this is a root */
    int children, child[COLL_TREES_CHILDREN]; /* in the order in which their sums are added */
    int peers, peer[COLL_TREES_PEERS];        /* the peers of a root */
    bool before[COLL_TREES_PEERS];            /* the peer's sum is the first operand */
    /*
     * Adds the steps between the way up and the way down: roots exchange their sums with their
     * peers, or something else. The function may use the segments after those of the children.
     */
    void (*exchange)(const struct coll_trees *plan, coll_trees_draft *d);
} coll_trees;

/* Adds STEP, which depends on step AFTER of the round, unless that is -1. */
coll_step *coll_trees_add(coll_trees_draft *d, coll_step step, int after);

/* Returns the size of a plan in which no rank receives sums from more than MOST other ranks,
 * children and peers together. */
coll_plan_size coll_trees_size(const coll_plan_args *args, int most);

/* Creates, in MEMORY of coll_trees_size, the plan of a rank without parent, children and peers. */
coll_trees *coll_trees_open(const coll_plan_args *args, coll_plan_size size, void *memory);

/*
 * Connect the first ranks of all UNITs, except ranks that already have a parent. In each WHOLE,
 * coll_trees_join makes a binomial tree whose subtrees are runs of the line. coll_trees_double
 * connects all these ranks for recursive doubling; if the number of these ranks is no power of two,
 * the first ranks combine in pairs before. Both combine in the order of the line.
 */
void coll_trees_join(coll_trees *plan, coll_unit unit, coll_unit whole);
void coll_trees_double(coll_trees *plan, coll_unit unit);

/*
 * Returns an upper bound on the number of ranks from which any rank receives sums, after
 * coll_trees_join or coll_trees_double. The result is the same on all ranks.
 */
int coll_trees_depth(const coll_plan_args *args, coll_unit unit, coll_unit whole);

#endif
