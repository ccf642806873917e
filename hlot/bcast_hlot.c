/*
 * hlot: the hierarchical latency-optimal tree; for ranks at several sites.
 *
 * 1. Between the heads of the sites the data goes down a tree made from the sites' latencies as
 *    they are now (hlot/latency.h), segment by segment; near sites form groups that are entered
 *    once (hlot/levels.h).
 * 2. Within each site it goes by the algorithm of the table that is predicted to be fastest.
 *
 * With plus=0 the tree is figure 3 of the paper; with plus=1 it also counts what sending takes, so
 * that large messages get fewer children and longer ways (hlot/tree.h).
 *
 * flat, its rival: the root sends to the head of every other site; what MagPIe and MPICH-G2 do.
 *
 * Cost: T(tree) + (n - 1) (most children on the way) (a + c B) for n segments of c bytes, and n
 * times that of a segment within a site; of flat max L(root, site) + (sites - 1) n (a + c B) for
 * the tree.
 * Source: Park and others: An Efficient Collective Communication Method for Grid Scale Networks,
 * section 2, figure 3 and eq. 1 to 4.
 */
#include "config.h"

#include "hlot/relay.h"
#include "hlot/wide.h"

enum { PLUS, SEGMENT, WINDOW };

static hlot_kind kind_of(const coll_values *values) {
    return values->at[PLUS] ? HLOT_PLUS : HLOT_PAPER;
}

static bool applicable(const coll_shape *call) {
    return hlot_wide_possible(call->topo);
}

static double predict(const coll_shape *call, const coll_values *values) {
    double seconds;
    hlot_wide_predict(call, kind_of(values), values->at[SEGMENT], &seconds);
    return seconds;
}

static double predict_flat(const coll_shape *call, const coll_values *values) {
    double seconds;
    hlot_wide_predict(call, HLOT_FLAT, values->at[COLL_SEGMENT], &seconds);
    return seconds;
}

static int run(const coll_planned *call) {
    const coll_values *values = call->part.values;
    return hlot_relay_run(call, kind_of(values), values->at[SEGMENT], (int)values->at[WINDOW]);
}

static int run_flat(const coll_planned *call) {
    const coll_values *values = call->part.values;
    return hlot_relay_run(call, HLOT_FLAT, values->at[COLL_SEGMENT], (int)values->at[COLL_WINDOW]);
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
