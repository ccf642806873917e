/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs broadcasts down a tree of sites, and within each site. */
#ifndef COLL_HLOT_BCAST_RUNTIME_H
#define COLL_HLOT_BCAST_RUNTIME_H

#include "hlot/site_state.h"
#include "lib/bcast/bcast.h"

/*
 * Runs CALL in segments of GIVEN bytes (0: chosen by the model), with at most WINDOW segments under
 * way to a site:
 *
 * 1. In the root's site the root is the head; in each other site the leader is the head. The root
 *    makes the tree of KIND. The first message contains the tree, so all heads use the same tree,
 *    whatever latencies they know.
 * 2. A head waits for the first message from any rank, with a tag that none of the preceding
 *    COLL_TAGS_WIDE - 1 broadcasts uses, and finds its parent and its children in the tree.
 * 3. The head sends each segment, as soon as the segment has arrived, to all children in the tree's
 *    order. Then the head broadcasts the segment within its site, with the algorithm that is
 *    predicted to be fastest.
 */
int hlot_bcast_runtime_run(const coll_exec_args *call, hlot_kind kind, uint64_t given, int window);

/* Broadcasts over sites, for the table of broadcasts. */
extern const coll_algorithm hlot_bcast_flat;
extern const coll_algorithm hlot_bcast_hlot;

#endif
