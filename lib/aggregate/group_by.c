/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group_by: regroup by owner over all processes at once, then gather at the root; three_stage
 * without local aggregation, for comparison.
 *
 * 1. Every rank sends each owner the pairs of that owner: in round i to the i-th rank after itself.
 * 2. The owners, each with 1/p of the keys, send their pairs to the root.
 *
 * Order of combination of a key's values: the owner's, then those of the ranks before it, nearest
 * first and cyclically. The order does not depend on the root.
 *
 * Cost, if all ranks hold the same keys, B bytes of them, and the s processes of a node share its
 * link, with L, o and G as in three_stage.c:
 *   (p-1) (L + 2 o) + s B (p-1)/p G + L + (p-1) o + B (p-1)/p G
 * Source: Zhang and Qiu, figure 9: shuffling without local aggregation.
 */
#include "config.h"

#include "lib/aggregate/aggregate.h"

static double predict_seconds(const coll_shape *call, const coll_values *values) {
    (void)values;
    const coll_cost *far = coll_profile_outermost(call->profile, call->topo);
    double bytes = (double)call->bytes;
    double p = call->topo->ranks, s = call->topo->most_ranks_per_node;
    double share = bytes * (p - 1) / p * far->per_byte;

    double group_by = (p - 1) * (far->latency + 2 * far->overhead) + s * share;
    double gather = far->latency + (p - 1) * far->overhead + share;
    return group_by + gather;
}

const coll_aggregate_algorithm coll_aggregate_group_by = {
    .base = {.name = "group_by",
             .summary = "regroup by key across all ranks, then gather",
             .params = COLL_AGGREGATE_PARAMS,
             .predict = predict_seconds},
    .group_by = coll_route_all_to_owners,
    .gather = coll_route_to_root,
};
