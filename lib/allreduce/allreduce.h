/* SPDX-License-Identifier: BSD-3-Clause */
/* The allreduce algorithms; their table is in lib/api/registry.c. */
#ifndef COLL_LIB_ALLREDUCE_ALLREDUCE_H
#define COLL_LIB_ALLREDUCE_ALLREDUCE_H

#include "lib/algorithm/algorithm.h"

/*
 * Lanes: results on the way back don't wait behind sums of later rounds, nor sums behind results.
 */
enum { COLL_LANE_SUMS, COLL_LANE_RESULTS };

extern const coll_algorithm coll_allreduce_ring, coll_allreduce_racks,
    coll_allreduce_recursive_doubling, coll_allreduce_halving, coll_allreduce_circulant,
    coll_allreduce_circulant_levels, coll_allreduce_two_level, coll_allreduce_three_level,
    coll_allreduce_multi_leader, coll_allreduce_node_shares, coll_allreduce_chain,
    coll_allreduce_binomial;

#endif
