/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/plan/node_pairs.h"

coll_node_pairs_extent coll_node_pairs_measure(const coll_plan_args *args) {
    const coll_extent ranks =
        coll_rank_order_extent(args->line, args->shape->topo, COLL_UNIT_RANK, COLL_UNIT_NODE);
    const int others = ranks.wholes - 1;
    return (coll_node_pairs_extent){
        .nodes = ranks.wholes,
        .most = ranks.most,
        .parts = others > 0 && ranks.fewest >= others ? ranks.fewest / others : 1,
        .bytes = ((size_t)ranks.wholes + 1) * sizeof(int)};
}

static int divide_up(int count, int by) {
    return (count + by - 1) / by;
}

int coll_node_pairs_messages(const coll_node_pairs_extent *all, int ranks) {
    return divide_up((all->nodes - 1) * all->parts, ranks);
}

int coll_node_pairs_forwards(const coll_node_pairs_extent *all, int ranks) {
    return coll_node_pairs_messages(all, ranks) * divide_up(all->most, all->parts);
}

coll_node_pairs coll_node_pairs_open(const coll_plan_args *args, void *memory) {
    const coll_node_pairs_extent all = coll_node_pairs_measure(args);
    const int *first = memory,
              node = coll_rank_order_list(args->line, args->shape->topo, COLL_UNIT_NODE, memory);
    return (coll_node_pairs){.order = args->line->order,
                             .first = first,
                             .nodes = all.nodes,
                             .node = node,
                             .ranks = first[node + 1] - first[node],
                             .place = args->line->position - first[node],
                             .parts = all.parts};
}

static coll_run positions_of(const coll_node_pairs *pairs, int node) {
    return (coll_run){pairs->first[node], pairs->first[node + 1] - pairs->first[node]};
}

/* Returns the positions in PART of NODE. */
static coll_run positions_in(const coll_node_pairs *pairs, int node, int part) {
    const coll_cut cut = {.whole = positions_of(pairs, node), .parts = pairs->parts};
    return coll_cut_run(&cut, part);
}

coll_run coll_node_pairs_of(const coll_node_pairs *pairs, int place) {
    const coll_cut cut = {.whole = {0, (pairs->nodes - 1) * pairs->parts}, .parts = pairs->ranks};
    return coll_cut_run(&cut, place);
}

coll_node_pair coll_node_pairs_at(const coll_node_pairs *pairs, int number) {
    const int away = number / pairs->parts, part = number % pairs->parts,
              node = (pairs->node + 1 + away) % pairs->nodes, others = pairs->nodes - 1,
              theirs = (others - 1 - away) * pairs->parts + part; /* the message's number at NODE */
    const coll_run positions = positions_of(pairs, node);
    const int place =
        coll_block_at((size_t)(others * pairs->parts), positions.count, (size_t)theirs);
    return (coll_node_pair){.rank = pairs->order[positions.first + place],
                            .other = node,
                            .part = part,
                            .node = positions,
                            .to = positions_in(pairs, node, part),
                            .for_us = positions_in(pairs, pairs->node, part)};
}

coll_run coll_node_pairs_forwarded(const coll_node_pairs *pairs, int place) {
    const coll_run numbers = coll_node_pairs_of(pairs, place);
    coll_run all = {0, 0};
    for (int i = 0; i < numbers.count; i++) {
        const coll_run to = coll_node_pairs_at(pairs, numbers.first + i).to;
        all = (coll_run){i == 0 ? to.first : all.first, all.count + to.count};
    }
    return all;
}

coll_run coll_node_pairs_delivered(const coll_node_pairs *pairs, int place, int to) {
    const coll_run numbers = coll_node_pairs_of(pairs, place);
    coll_run all = {0, 0};
    for (int i = 0; i < numbers.count; i++) {
        const coll_node_pair pair = coll_node_pairs_at(pairs, numbers.first + i);
        if (!coll_run_has(pair.for_us, pairs->first[pairs->node] + to))
            continue;
        all = (coll_run){all.count == 0 ? pair.node.first : all.first, all.count + pair.node.count};
    }
    return all;
}
