/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/algorithm/rank_order.h"

#include <stdlib.h>

coll_comm_key coll_rank_order_key = {.bytes = sizeof(coll_rank_order),
                                     .bytes_per_rank = sizeof(int)};

enum { BY_RANK = -1 };

/* The places of all ranks, and the first rank of the chain order. */
typedef struct chain {
    const coll_place *places;
    int head;
} chain;

/* Compares A and B, for qsort, in the order of numbers from FIRST on, and then from 0 to FIRST - 1.
 */
static int compare_from(int first, int a, int b) {
    return (a < first) == (b < first) ? (a > b) - (a < b) : (a < first) - (b < first);
}

static int compare_ranks(const void *a, const void *b, void *context) {
    const chain *of = context;
    const int rank = *(const int *)a, other = *(const int *)b;
    const coll_place *first = &of->places[of->head], *here = &of->places[rank],
                     *there = &of->places[other];
    int order = compare_from(first->site, here->site, there->site);
    if (order == 0)
        order = compare_from(first->rack, here->rack, there->rack);
    if (order == 0)
        order = compare_from(first->node, here->node, there->node);
    if (order == 0)
        order = compare_from(first->numa, here->numa, there->numa);
    return order != 0 ? order : compare_from(of->head, rank, other);
}

void coll_order_ranks(const coll_shape *call, int order[]) {
    chain of = {.places = call->topo->places, .head = coll_rank_order_head(call)};
    bool sorted = true;
    for (int rank = 0; rank < call->topo->ranks; rank++) {
        order[rank] = rank;
        sorted = sorted && (rank == 0 || compare_ranks(&order[rank - 1], &order[rank], &of) < 0);
    }
    if (!call->ordered && !sorted)
        qsort_r(order, (size_t)call->topo->ranks, sizeof *order, compare_ranks, &of);
}

coll_extent coll_rank_order_extent(const coll_rank_order *line, const coll_topo *topo,
                                   coll_unit unit, coll_unit whole) {
    coll_extent extent = {.fewest = topo->ranks, .most = topo->ranks, .wholes = 1};
    if (unit == COLL_UNIT_RANK && whole == COLL_UNIT_ALL)
        return extent;
    extent.most = extent.wholes = 0;
    for (int position = 0, count = 0; position < topo->ranks; position++) {
        count += coll_rank_order_begins(line, topo, position, unit);
        if (position + 1 < topo->ranks && !coll_rank_order_begins(line, topo, position + 1, whole))
            continue;
        extent.fewest = count < extent.fewest ? count : extent.fewest;
        extent.most = count > extent.most ? count : extent.most;
        extent.wholes++;
        count = 0;
    }
    return extent;
}

int coll_rank_order_list(const coll_rank_order *line, const coll_topo *topo, coll_unit unit,
                         int first[]) {
    int units = 0, own = 0;
    for (int position = 0; position < topo->ranks; position++) {
        if (coll_rank_order_begins(line, topo, position, unit))
            first[units++] = position;
        if (position == line->position)
            own = units - 1;
    }
    first[units] = topo->ranks;
    return own;
}

const coll_rank_order *coll_rank_order_of(const coll_comm *comm, const coll_shape *call) {
    coll_rank_order *line = coll_comm_slot(comm, &coll_rank_order_key);
    int wanted = call->ordered ? BY_RANK : coll_rank_order_head(call) + 1;
    if (line->next_root == wanted)
        return line;
    coll_order_ranks(call, line->order);
    line->next_root = wanted;
    for (int i = 0; i < comm->ranks; i++)
        if (line->order[i] == comm->rank)
            line->position = i;
    return line;
}
