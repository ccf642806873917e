/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/algorithm/rank_order.h"

#include "lib/pattern/order.h"

/* The order is followed by scratch memory for coll_order_ranks. */
coll_comm_key coll_rank_order_key = {.bytes = sizeof(coll_rank_order),
                                     .bytes_per_rank = sizeof(int) + sizeof(coll_visit)};

enum { BY_RANK = -1 };

void coll_order_ranks(const coll_shape *call, coll_visit visits[], int order[]) {
    if (!call->ordered)
        coll_order_chain(call->topo, coll_rank_order_head(call), visits, order);
    for (int rank = 0; call->ordered && rank < call->topo->ranks; rank++)
        order[rank] = rank;
}

coll_extent coll_rank_order_extent(const coll_rank_order *line, const coll_topo *topo,
                                   coll_unit unit, coll_unit whole) {
    coll_extent extent = {.fewest = topo->ranks, .most = topo->ranks};
    if (unit == COLL_UNIT_RANK && whole == COLL_UNIT_ALL)
        return extent;
    extent.most = 0;
    for (int position = 0, count = 0; position < topo->ranks; position++) {
        count += coll_rank_order_begins(line, topo, position, unit);
        if (position + 1 < topo->ranks && !coll_rank_order_begins(line, topo, position + 1, whole))
            continue;
        extent.fewest = count < extent.fewest ? count : extent.fewest;
        extent.most = count > extent.most ? count : extent.most;
        count = 0;
    }
    return extent;
}

const coll_rank_order *coll_rank_order_of(const coll_comm *comm, const coll_shape *call) {
    coll_rank_order *line = coll_comm_slot(comm, &coll_rank_order_key);
    int wanted = call->ordered ? BY_RANK : coll_rank_order_head(call) + 1;
    if (line->next_root == wanted)
        return line;
    coll_order_ranks(call, (coll_visit *)&line->order[comm->ranks], line->order);
    line->next_root = wanted;
    for (int i = 0; i < comm->ranks; i++)
        if (line->order[i] == comm->rank)
            line->position = i;
    return line;
}
