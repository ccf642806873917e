/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window: the coordinated gather of Tam and Wang, in which a window of ranks sends at a time.
 *
 * 1. Ranks are positions in the chain order from the root, P0.
 * 2. If all blocks together fit the switch's buffer, all ranks send at once.
 * 3. Otherwise the ranks P1 to Pw send at once; when Pj's send returns, it sends a start signal to
 *    P(j + w), which then sends.
 *
 * w is between the bounds of eq. 5 and 6, and such that the last ranks to send also fill the link
 * (eq. 7): lib/pattern/incast.h. This is algorithm 1 of Tam and Wang unchanged. Over TCP a send
 * returns when its data is in the socket's buffer, so the signal overtakes the data and more than w
 * ranks may flood the switch; the algorithm "credit" counts the bytes that have arrived instead.
 *
 * Cost: T = C1 + (p - 1) m D + C2 (eq. 8).
 * Source: Tam and Wang, section 5.3.
 */
#include "config.h"

#include "lib/gather/gather.h"
#include "lib/gather/straight.h"
#include "lib/pattern/incast.h"

enum { SENDERS };

static int window_of(const coll_shape *call, const coll_values *values) {
    int senders = call->topo->ranks - 1;
    if (values->at[SENDERS])
        return (int)values->at[SENDERS];
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    double bytes = (double)call->bytes, buffer = coll_gather_buffer(call);
    double gs = coll_cost_send_gap(link, bytes), gr = coll_cost_receive_gap(link, bytes);
    int fewest = coll_incast_fewest(gs, gr);
    int most = coll_incast_most(gs, gr, buffer, bytes * senders, senders);
    return coll_incast_window(fewest, most, senders);
}

static coll_straight how_of(const coll_plan_args *args) {
    return (coll_straight){.segment = 1 << 20,
                           .window = 16,
                           .together = 64,
                           .senders = window_of(args->shape, args->values),
                           .sends = COLL_STEP_AFTER};
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    coll_straight how = how_of(args);
    return coll_straight_size(args, &how);
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    coll_straight how = how_of(args);
    return coll_straight_plan(args, &how, size, memory);
}

const coll_algorithm coll_gather_window = {
    .name = "window",
    .summary = "a window of ranks sends at a time; each starts the next one",
    .params = {[SENDERS] = {"senders", "ranks that send at a time; 0: by the cost model",
                            .fallback = 0, .lowest = 0, .highest = 1 << 20}},
    .rival = true,
    .applicable = coll_gather_is_even,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
