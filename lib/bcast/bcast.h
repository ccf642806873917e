/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations for the broadcast algorithms; their table is in lib/api/registry.c. The algorithms
 * are only called with at least 2 ranks and 1 byte; the number of bytes is the same on all ranks.
 */
#ifndef COLL_LIB_BCAST_BCAST_H
#define COLL_LIB_BCAST_BCAST_H

#include "lib/algorithm/algorithm.h"
#include "lib/algorithm/rank_order.h"
#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/plan/engine.h"

/*
 * Returns the segment size for a pipelined broadcast: WANTED, unless it is 0; 1 MB on a single
 * node, where nothing queues on a link and each message costs a handshake; else the size from
 * coll_profile_segment_or with FILL.
 */
size_t coll_bcast_segment(const coll_shape *call, uint64_t wanted, double fill);

extern const coll_algorithm coll_bcast_native;
extern const coll_algorithm coll_bcast_linear;
extern const coll_algorithm coll_bcast_binomial;
extern const coll_algorithm coll_bcast_scatter_allgather;
extern const coll_algorithm coll_bcast_chain;
extern const coll_algorithm coll_bcast_circulant;
extern const coll_algorithm coll_bcast_two_tree;
extern const coll_algorithm coll_bcast_multi_leader;

/* Not in the table: the broadcasts of MPI libraries, for predictions (binomial.c,
 * usual_split_binary.c). */
extern const coll_algorithm coll_bcast_usual_flat, coll_bcast_usual_line, coll_bcast_usual_binary,
    coll_bcast_usual_binomial, coll_bcast_usual_quadrinomial, coll_bcast_usual_split_binary;

#endif
