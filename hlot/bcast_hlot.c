/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hlot: the hierarchical latency-optimal tree; for ranks at several sites.
 *
 * 1. Between the heads of the sites, the data goes down a tree, segment by segment. The tree is
 *    made from the current latencies of the sites (hlot/latency.h); near sites form groups, each of
 *    which the tree enters once (hlot/levels.h).
 * 2. Within each site, the data is broadcast with the table's algorithm that is predicted to be
 *    fastest.
 *
 * With plus=0 the tree is that of figure 3 of Park and others. With plus=1 it also accounts for the
 * time of sends, so that for large messages sites have fewer children and paths are longer
 * (hlot/tree.h).
 *
 * flat, for comparison: the root sends to the head of every other site, as MagPIe and MPICH-G2 do.
 *
 * Cost for n segments of c bytes: T(tree) + (n - 1) k (a + c B) + n T(site). T(tree) is the time
 * until the first segment has reached all sites; k is the largest number of children of any site on
 * the path to the last site; a + c B is the time for which a send occupies its sender; T(site) is
 * the time of one segment's broadcast within a site. For flat, the tree takes max L(root,
 * site) + (sites - 1) n (a + c B).
 *
 * Source: Park and others, section 2, figure 3 and eq. 1 to 4.
 */
#include "config.h"

#include "hlot/bcast_runtime.h"
#include "hlot/site_state.h"

enum { PLUS, SEGMENT, WINDOW };

static hlot_kind kind_of(const coll_values *values) {
    return values->at[PLUS] ? HLOT_PLUS : HLOT_PAPER;
}

static bool applicable(const coll_shape *call) {
    return hlot_site_state_possible(call->topo);
}

static double predict(const coll_shape *call, const coll_values *values) {
    double seconds;
    hlot_site_state_predict(call, kind_of(values), values->at[SEGMENT], &seconds);
    return seconds;
}

static double predict_flat(const coll_shape *call, const coll_values *values) {
    double seconds;
    hlot_site_state_predict(call, HLOT_FLAT, values->at[COLL_SEGMENT], &seconds);
    return seconds;
}

static int run(const coll_exec_args *call) {
    const coll_values *values = call->args.values;
    return hlot_bcast_runtime_run(call, kind_of(values), values->at[SEGMENT],
                                  (int)values->at[WINDOW]);
}

static int run_flat(const coll_exec_args *call) {
    const coll_values *values = call->args.values;
    return hlot_bcast_runtime_run(call, HLOT_FLAT, values->at[COLL_SEGMENT],
                                  (int)values->at[COLL_WINDOW]);
}

const coll_algorithm hlot_bcast_hlot = {
    .name = "hlot",
    .summary = "down a tree over the sites, made from their latencies, then within sites",
    .params = {[PLUS] = {"plus", "1: the tree counts sends and bytes too; 0: latencies alone",
                         .fallback = 1, .highest = 1},
               [SEGMENT] = {"segment", COLL_MESSAGE_BYTES "; 0: by the model", .highest = 1 << 30},
               [WINDOW] = {"window", "messages under way to the next site", .fallback = 16,
                           .lowest = 1, .highest = 1024}},
    .applicable = applicable,
    .predict = predict,
    .run = run,
};

const coll_algorithm hlot_bcast_flat = {
    .name = "flat",
    .summary = "the root sends to one rank of each site, which passes it on there",
    .params = {COLL_PARAM_SEGMENT(COLL_MESSAGE_BYTES "; 0: by the model", 0),
               COLL_PARAM_WINDOW("messages under way to the next site", 16)},
    .applicable = applicable,
    .rival = true,
    .predict = predict_flat,
    .run = run_flat,
};
