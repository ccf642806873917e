/* SPDX-License-Identifier: BSD-3-Clause */
/* The reduce algorithms; their table is in lib/api/registry.c. */
#ifndef COLL_LIB_REDUCE_REDUCE_H
#define COLL_LIB_REDUCE_REDUCE_H

#include "lib/algorithm/algorithm.h"

extern const coll_algorithm coll_reduce_chain, coll_reduce_two_tree, coll_reduce_binomial,
    coll_reduce_multi_leader;

/*
 * Not in the table: the reductions of MPI libraries, for predictions (binomial.c). The flat tree is
 * only for few ranks.
 */
extern const coll_algorithm coll_reduce_usual_line, coll_reduce_usual_binary,
    coll_reduce_usual_in_order, coll_reduce_usual_flat;

#endif
