/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/algorithm/rank_order.h"

#include <stddef.h>

/* The order is followed by scratch memory for coll_order_ranks. */
coll_comm_key coll_rank_order_key = {.bytes = sizeof(coll_rank_order),
                                     .bytes_per_rank = sizeof(int) + sizeof(coll_visit)};

enum { BY_RANK = -1 };

/* The members of a place, from the innermost. */
static const size_t parts[] = {offsetof(coll_place, numa), offsetof(coll_place, node),
                               offsetof(coll_place, rack), offsetof(coll_place, site)};

static int number_of(const coll_place *place, size_t part) {
    return *(const int *)((const char *)place + part);
}

/* Returns one more than the highest number of PART. */
static int count_numbers(const coll_topo *topo, size_t part) {
    int most = 0;
    for (int i = 0; i < topo->ranks; i++)
        if (number_of(&topo->places[i], part) >= most)
            most = number_of(&topo->places[i], part) + 1;
    return most;
}

/* Returns by how many steps NUMBER follows FIRST in the ring of the numbers below COUNT. */
static int steps_between(int first, int number, int count) {
    return number >= first ? number - first : number + (count - first);
}

/*
 * Sorts ORDER, stably, by one digit of the steps from FIRST to the number that each rank's place
 * has in PART: a pass of a radix sort with radix topo->ranks, whose digit is worth UNITS.
 */
static void sort_by_digit(const coll_topo *topo, int first, size_t part, int count, int units,
                          coll_visit visits[], int order[]) {
    const int ranks = topo->ranks;
    for (int i = 0; i < ranks; i++)
        visits[i] = (coll_visit){.rank = order[i]};
    for (int i = 0; i < ranks; i++) {
        int far = steps_between(first, number_of(&topo->places[i], part), count);
        visits[far / units % ranks].next++;
    }
    for (int i = 0, before = 0; i < ranks; i++) {
        const int here = visits[i].next;
        visits[i].next = before;
        before += here;
    }
    for (int i = 0; i < ranks; i++) {
        const int rank = visits[i].rank,
                  far = steps_between(first, number_of(&topo->places[rank], part), count);
        order[visits[far / units % ranks].next++] = rank;
    }
}

/* Writes the ranks of TOPO to ORDER in chain order, ROOT first. */
static void sort_into_chain(const coll_topo *topo, int root, coll_visit visits[], int order[]) {
    for (int i = 0; i < topo->ranks; i++)
        order[i] = (root + i) % topo->ranks;
    for (size_t i = 0; topo->ranks > 1 && i < sizeof parts / sizeof *parts; i++) {
        const int first = number_of(&topo->places[root], parts[i]),
                  count = count_numbers(topo, parts[i]);
        for (int units = 1; units < count; units *= topo->ranks)
            sort_by_digit(topo, first, parts[i], count, units, visits, order);
    }
}

void coll_order_ranks(const coll_shape *call, coll_visit visits[], int order[]) {
    if (!call->ordered)
        sort_into_chain(call->topo, coll_rank_order_head(call), visits, order);
    for (int rank = 0; call->ordered && rank < call->topo->ranks; rank++)
        order[rank] = rank;
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
    coll_order_ranks(call, (coll_visit *)&line->order[comm->ranks], line->order);
    line->next_root = wanted;
    for (int i = 0; i < comm->ranks; i++)
        if (line->order[i] == comm->rank)
            line->position = i;
    return line;
}
