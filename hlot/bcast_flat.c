/*
 * flat: the root sends to the head of every other site, and each head passes it on within its
 * site; what MagPIe and MPICH-G2 do. Here as the rival of hlot, with which it shares everything but
 * the tree.
 *
 * Cost: max L(root, site) + (sites - 1) n (a + c B) for n segments of c bytes, and n times that of
 * a segment within a site. Source: Park and others: An Efficient Collective Communication Method
 * for Grid Scale Networks, section 2 and eq. 3.
 */
#include "config.h"

#include "hlot/relay.h"
#include "hlot/wide.h"

static bool applicable(const coll_shape *call) {
    return hlot_wide_possible(call->topo);
}

static double predict(const coll_shape *call, const coll_values *values) {
    double seconds;
    hlot_wide_predict(call, HLOT_FLAT, values->at[COLL_SEGMENT], &seconds);
    return seconds;
}

static int run(const coll_bcast_call *call, const coll_values *values) {
    return hlot_relay_run(call, HLOT_FLAT, values->at[COLL_SEGMENT], (int)values->at[COLL_WINDOW]);
}

const coll_bcast_algorithm hlot_bcast_flat = {
    .base = {.name = "flat",
             .summary = "the root sends to one rank of each site, which passes it on there",
             .params = {COLL_PARAM_SEGMENT(COLL_MESSAGE_BYTES "; 0: by the model", 0),
                        COLL_PARAM_WINDOW("messages under way to the next site", 16)},
             .applicable = applicable,
             .rival = true,
             .predict = predict},
    .run = run,
};
