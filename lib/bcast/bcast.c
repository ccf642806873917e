/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/bcast/bcast.h"

size_t coll_bcast_segment(const coll_shape *call, uint64_t wanted, double fill) {
    const uint64_t on_one_node = 1 << 20;
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    if (wanted == 0 && call->topo->nodes == 1)
        wanted = on_one_node;
    return coll_profile_segment_or(wanted, link, call->bytes, fill);
}
