/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations for the gather algorithms; their table is in lib/api/registry.c. The algorithms are
 * only called with at least 2 ranks. In MPI_Gather all ranks send the same amount: the shape's
 * bytes, at least 1. In MPI_Gatherv the shape's bytes is COLL_BYTES_UNKNOWN, and only the root
 * knows all amounts. The root has blocks, with its own block already in place; the other ranks have
 * data.
 */
#ifndef COLL_LIB_GATHER_GATHER_H
#define COLL_LIB_GATHER_GATHER_H

#include "lib/algorithm/algorithm.h"
#include "lib/algorithm/rank_order.h"
#include "lib/base/blocks.h"
#include "lib/base/comm.h"
#include "lib/base/data.h"
#include "lib/plan/engine.h"

extern const coll_algorithm coll_gather_native;
extern const coll_algorithm coll_gather_linear;
extern const coll_algorithm coll_gather_binomial;
extern const coll_algorithm coll_gather_window;
extern const coll_algorithm coll_gather_credit;

/* Returns whether all ranks know the size of the blocks. */
static inline bool coll_gather_is_even(const coll_shape *call) {
    return call->bytes != COLL_BYTES_UNKNOWN;
}

/*
 * Returns the seconds of eq. 8 of Tam and Wang, T = C1 + (p - 1) m D + C2, for blocks of MESSAGES
 * messages each that keep the link to the root full: the time until the first byte arrives, plus
 * all bytes through the link (or all messages at the root's receive gap, if that takes longer),
 * plus the overheads of receiving the last message.
 */
double coll_gather_seconds(const coll_shape *call, double messages);

/* Returns the bytes of the switch buffer before the link to a rank. */
double coll_gather_buffer(const coll_shape *call);

#endif
