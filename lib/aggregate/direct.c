/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct: every rank sends its pairs directly to the root, which combines them all.
 *
 * Order of combination of a key's values: the root's, then those of the ranks after it, cyclically.
 *
 * Cost, if each rank holds B bytes of pairs: L + (p-1) (o + B G), with L, o and G as in
 * three_stage.c.
 * Source: Zhang, Qiu, Lee and Crandall, section V: "direct aggregation is impossible for large
 * intermediate data"; for a few keys it takes the fewest messages.
 */
#include "config.h"

#include "lib/aggregate/aggregate.h"

static double predict_seconds(const coll_shape *call, const coll_values *values) {
    (void)values;
    const coll_cost *far = coll_profile_outermost(call->profile, call->topo);
    double p = call->topo->ranks;
    return far->latency + (p - 1) * (far->overhead + (double)call->bytes * far->per_byte);
}

const coll_aggregate_algorithm coll_aggregate_direct = {
    .base = {.name = "direct",
             .summary = "every rank sends its pairs directly to the root",
             .params = COLL_AGGREGATE_PARAMS,
             .predict = predict_seconds},
    .gather = coll_route_to_root,
};
