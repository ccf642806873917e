/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/gather/gather.h"
#include "lib/pattern/incast.h"

#include <math.h>

/* Returns the seconds that ITEMS bytes take through LINK, without the latency of LINK. */
static double seconds_through(const coll_cost *link, double items) {
    return coll_cost_transfer(link, items) - coll_cost_transfer(link, 0);
}

/*
 * Returns the seconds that the blocks take through the slower of two links: the root's link, with
 * all blocks, and the uplink of the root's rack, which may be slower but has only the blocks from
 * other racks. With one rack or several sites, only the outermost link counts, with all blocks.
 */
static double slowest_link_seconds(const coll_shape *call) {
    const coll_topo *topo = call->topo;
    double senders = fmax(topo->ranks - 1, 1), across = 0, bytes = (double)call->bytes;
    const coll_profile *costs = coll_shape_costs(call);
    const coll_cost *link = coll_profile_outermost(costs, topo);
    if (topo->sites > 1 || topo->racks == 1)
        return seconds_through(link, senders * bytes);
    for (int rank = 0; rank < topo->ranks; rank++)
        across += topo->places[rank].rack != topo->places[call->root].rack;
    return fmax(seconds_through(&costs->level[COLL_LEVEL_RACK], senders * bytes),
                seconds_through(link, across * bytes));
}

double coll_gather_seconds(const coll_shape *call, double messages) {
    const coll_cost *link = coll_profile_outermost(coll_shape_costs(call), call->topo);
    double senders = fmax(call->topo->ranks - 1, 1), items = senders * (double)call->bytes;
    double start = coll_cost_transfer(link, 0), through = slowest_link_seconds(call);
    double taken = senders * messages * coll_cost_receive_gap(link, 0);
    double first = coll_cost_send_overhead(link, (double)call->bytes) + start;
    double last = coll_cost_arrival_overhead(link, (double)call->bytes) +
                  coll_cost_receive_overhead(link, (double)call->bytes);
    return coll_incast_seconds(first, items, items / fmax(through, taken), last);
}

/* Bytes of the buffer of small switches; used if the profile has no measurement. */
static const double SMALL_BUFFER = 60e3;

double coll_gather_buffer(const coll_shape *call) {
    double buffer = coll_profile_outermost(call->profile, call->topo)->buffer;
    return buffer > 0 ? buffer : SMALL_BUFFER;
}
