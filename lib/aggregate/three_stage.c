/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * three_stage: combine on each node, then regroup by owner across nodes, then gather at the root.
 *
 * 1. On a node of s processes, the pairs of each owner go to one process, its collector there.
 * 2. The collectors of an owner, one on each of the n nodes, send the owner the combined pairs.
 * 3. The owners, each with 1/p of the keys, send their pairs to the root.
 *
 * A key's values are combined in this order. On each node: the collector's own value, then those of
 * the preceding processes, nearest first and cyclically. Across nodes: the owner's node, then the
 * preceding nodes, also cyclically. The order does not depend on the root.
 *
 * Cost, if all ranks hold the same keys, B bytes of them, with the latency L, overhead o and gap
 * per byte G of the node and of the network (the processes of a node share its network link):
 *   (s-1) (L + 2 o) + B (s-1)/s G_node + (n-1) (L + 2 o) + B (n-1)/n G + L + (p-1) o + B (p-1)/p G
 * Source: Zhang, Qiu, Lee and Crandall, section V and eq. 4.
 */
#include "config.h"

#include "lib/aggregate/aggregate.h"

static double predict_seconds(const coll_shape *call, const coll_values *values) {
    (void)values;
    const coll_cost *near = &call->profile->level[COLL_LEVEL_NODE];
    const coll_cost *far = coll_profile_outermost(call->profile, call->topo);
    double bytes = (double)call->bytes;
    double p = call->topo->ranks, n = call->topo->nodes, s = call->topo->most_ranks_per_node;

    double local =
        (s - 1) * (near->latency + 2 * near->overhead) + bytes * (s - 1) / s * near->per_byte;
    double group_by =
        (n - 1) * (far->latency + 2 * far->overhead) + bytes * (n - 1) / n * far->per_byte;
    double gather = far->latency + (p - 1) * far->overhead + bytes * (p - 1) / p * far->per_byte;
    return local + group_by + gather;
}

const coll_aggregate_algorithm coll_aggregate_three_stage = {
    .base = {.name = "three_stage",
             .summary = "combine on each host, regroup by key across hosts, then gather",
             .params = COLL_AGGREGATE_PARAMS,
             .predict = predict_seconds},
    .local = coll_route_to_collectors,
    .group_by = coll_route_to_owners,
    .gather = coll_route_to_root,
};
