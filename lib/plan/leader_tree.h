/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tree of few levels between nodes, for small data: the ranks of the root's node divide the other
 * nodes among themselves. Each of these ranks is the root of a k-nomial tree over the first ranks
 * of its nodes; k is the user's radix, else the cost model's. Inside the nodes the trees are
 * binomial, from the root or from the first rank. No communication.
 */
#ifndef COLL_LIB_PLAN_LEADER_TREE_H
#define COLL_LIB_PLAN_LEADER_TREE_H

#include "lib/plan/plan.h"

/* Returns an upper limit of the number of children of a rank. */
int coll_leader_tree_children(const coll_plan_args *args);

/*
 * Sets *PARENT (-1 at the root) and CHILDREN to ranks, and returns the number of children. Children
 * on this node come first, the farthest child first, then the children on other nodes, the farthest
 * first.
 */
int coll_leader_tree(const coll_plan_args *args, int *parent, int children[]);

/* Returns whether CALL has several nodes, all in one site. */
bool coll_leader_tree_applies(const coll_shape *call);

#endif
