/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chain: the pipelined, rack-aware chain towards the root; for large data.
 *
 * 1. Ranks form a line: the root, its node, its rack, the other racks, so that every uplink is
 *    crossed once. If an MPI_Op does not commute, ranks are in the order of their numbers, and two
 *    such lines meet at the root.
 * 2. Sums move up the line in segments: a rank adds its own data to each segment and forwards it.
 *
 * Steps: p - 1 + n - 1 for n segments. Bytes: m from every rank and to it, and once over each
 * uplink; in rank order 2 m to the root, and over a rack's uplink m for each of the rack's ranks
 * whose neighbour is in another rack. Memory: a window of segments.
 * Source: the chain of Zhang and Qiu, section 4, reversed.
 */
#include "config.h"

#include "lib/pattern/usualtree.h"
#include "lib/plan/tuned.h"
#include "lib/reduce/reduce.h"
#include "lib/reduce/tree.h"

static coll_plan_size plan_size(const coll_plan_args *args) {
    size_t segment = coll_segment_asked(args, args->shape->topo->ranks - 2);
    return coll_reduce_tree_size(args, segment, args->values->at[COLL_WINDOW], 1);
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_reduce_tree_plan(args, size, memory, coll_usual_line);
}

const coll_algorithm coll_reduce_chain = {
    .name = "chain",
    .summary = "sums pass along a line of ranks in rack order, in segments",
    .params = {COLL_PARAM_SEGMENT(COLL_MESSAGE_BYTES "; 0: by the cost model", 0),
               COLL_PARAM_WINDOW("segments in flight", 4)},
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
