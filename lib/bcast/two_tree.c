/*
 * two_tree: a pipeline down two trees at once; for all but small data.
 *
 * 1. The segments go by turns down two trees over the nodes, in which every node is an inner node
 *    of one tree and a leaf of the other, so that it sends about one copy of the data, as in a
 *    chain. Each tree enters each rack once. lib/pattern/twotree.h says how.
 * 2. In a node, the rank that is first in the chain order has the node's place in both trees; the
 *    others follow it as a chain.
 *
 * The rate is that of the chain; the first segment needs a hop for every rack and some log2 of a
 * rack's nodes, where the chain needs one for every node.
 *
 * Cost: d (a + 2 c B) + (n - 1) c B for n segments of c bytes and depth d: a node sends to its two
 * children by turns. Source: Sanders, Speck, Traeff, Two-tree algorithms for
 * full bandwidth broadcast, reduction and scan, Parallel Computing 35 (2009).
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/binomial.h"
#include "lib/pattern/twotree.h"
#include "lib/schedule/plan.h"

#include <stdlib.h>
#include <string.h>

/* The hops to the farthest node: the racks one after the other, then a tree of half of a rack. */
static double depth_of(const coll_topo *topo) {
    int rack = (topo->nodes + topo->racks - 1) / topo->racks;
    return topo->racks - 1 + 1 + coll_tree_depth((rack + 1) / 2) + topo->most_ranks_per_node - 1;
}

static size_t segment_of(const coll_shape *call, const coll_values *values) {
    return coll_bcast_segment(call, values->at[COLL_SEGMENT], 2 * depth_of(call->topo));
}

/* Two children in a tree and the next rank of the node. */
enum { TREES = 2, CHILDREN = 3 };

/* This rank's place in one tree. */
typedef struct branch {
    int parent; /* -1: this is the root */
    int children, child[CHILDREN];
} branch;

/* Round I is about segment I of each tree; tree t carries segments t, t + 2, t + 4, ... */
typedef struct tree_plan {
    coll_plan base;
    branch branch[TREES];
} tree_plan;

/* The trees, over the nodes in chain order. */
typedef struct forest {
    int nodes;
    int *first; /* the position of each node's first rank; behind the last node: the ranks */
    int *parent[TREES]; /* each node's */
    int *child[TREES];  /* each node's two; -1: none */
} forest;

enum { TWO = 2, BY_NODE = 1 + TREES * (1 + TWO), BY_NODE_MADE = 1 + TREES };

static size_t forest_bytes(const coll_part *part) {
    size_t nodes = (size_t)part->shape->topo->nodes + 1;
    return sizeof(forest) + (BY_NODE + BY_NODE_MADE + COLL_TWO_TREE_SCRATCH) * nodes * sizeof(int);
}

static void find_nodes(const coll_part *part, forest *all, int rack[]) {
    const coll_place *places = part->shape->topo->places;
    const int *order = part->line->order, ranks = part->shape->topo->ranks;
    all->nodes = 0;
    for (int i = 0; i < ranks; i++)
        if (coll_line_begins(part->line, part->shape->topo, i, COLL_UNIT_NODE)) {
            all->first[all->nodes] = i;
            rack[all->nodes++] = places[order[i]].rack;
        }
    all->first[all->nodes] = ranks;
}

static void grow_forest(const coll_part *part, void *memory) {
    forest *all = memory;
    size_t most = (size_t)part->shape->topo->nodes + 1;
    int *next = (int *)(all + 1), *rack = next + BY_NODE * most, *rank_of_child[TREES];
    all->first = next;
    for (size_t t = 0; t < TREES; t++) {
        all->parent[t] = next + (1 + t) * most;
        all->child[t] = next + (1 + TREES + TWO * t) * most;
        rank_of_child[t] = rack + (1 + t) * most;
    }
    find_nodes(part, all, rack);
    coll_two_tree(all->nodes, rack, rack + BY_NODE_MADE * most, all->parent, rank_of_child);
    for (int t = 0; t < TREES; t++) {
        for (int i = 0; i < TWO * all->nodes; i++)
            all->child[t][i] = -1;
        for (int node = 1; node < all->nodes; node++)
            all->child[t][TWO * all->parent[t][node] + rank_of_child[t][node]] = node;
    }
}

static int node_at(const forest *all, int position) {
    int low = 0, high = all->nodes - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (all->first[middle + 1] > position)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Parents and children of this rank. */
static void take_place(const coll_line *line, const forest *all, branch branches[]) {
    const int *order = line->order;
    int position = line->position, node = node_at(all, position);
    bool leads = position == all->first[node];
    for (int t = 0; t < TREES; t++) {
        branch *b = &branches[t];
        b->parent = -1;
        if (position > 0)
            b->parent = order[leads ? all->first[all->parent[t][node]] : position - 1];
        for (int nth = 0; leads && nth < TWO; nth++)
            if (all->child[t][TWO * node + nth] >= 0)
                b->child[b->children++] = order[all->first[all->child[t][TWO * node + nth]]];
        if (position + 1 < all->first[node + 1])
            b->child[b->children++] = order[position + 1];
    }
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const tree_plan *plan = (const tree_plan *)base;
    const coll_part *part = base->part;
    uint64_t window = part->values->at[COLL_WINDOW];
    int count = 0;
    for (int t = 0; t < TREES; t++) {
        const branch *b = &plan->branch[t];
        coll_range what =
            coll_segment_at(part->own, base->size.segment, TREES * round + (uint64_t)t);
        int received = -1;
        if (what.from >= part->own)
            break;
        if (b->parent >= 0) {
            received = count++;
            steps[received] = coll_step_receive(b->parent, what.from, what.length);
            steps[received].lane = steps[received].segment = t;
        }
        for (int c = 0; c < b->children; c++) {
            coll_step *pass = &steps[count];
            *pass = coll_step_send(b->child[c], what.from, what.length);
            pass->lane = pass->segment = t;
            if (received >= 0)
                coll_step_after(pass, 0, received);
            if (round >= window) /* no more are under way to a child */
                coll_step_after(pass, (int)window, count);
            count++;
        }
    }
    return count;
}

static uint64_t rounds_of(size_t bytes, size_t segment) {
    return (coll_segment_count(bytes, segment) + TREES - 1) / TREES;
}

/* While a window of segments is sent, another one arrives. */
static coll_plan_size plan_size(const coll_part *part) {
    size_t bytes = part->shape->bytes, segment = segment_of(part->shape, part->values);
    return (coll_plan_size){
        .window = (int)coll_least(2 * part->values->at[COLL_WINDOW], rounds_of(bytes, segment)),
        .steps = TREES * (1 + CHILDREN),
        .segments = TREES,
        .segment = coll_least(segment, bytes),
        .own_bytes = sizeof(tree_plan) + (part->shared ? 0 : forest_bytes(part))};
}

static coll_plan *make_plan(const coll_part *part, coll_plan_size size, void *memory) {
    tree_plan *plan = memory;
    *plan = (tree_plan){
        .base = coll_plan_of(part, size, rounds_of(part->own, size.segment), plan_round)};
    if (!part->shared)
        grow_forest(part, plan + 1);
    take_place(part->line, part->shared ? part->shared : (void *)(plan + 1), plan->branch);
    return &plan->base;
}

const coll_algorithm coll_bcast_two_tree = {
    .name = "two_tree",
    .summary = "segments alternate between two trees; each host forwards in only one",
    .params = {COLL_PARAM_SEGMENT_FORMERLY("chunk", COLL_MESSAGE_BYTES "; 0: by the cost model", 0),
               COLL_PARAM_WINDOW("messages under way to each child", 8)},
    .planner = &(const coll_planner){.size = plan_size,
                                     .plan = make_plan,
                                     .shared_bytes = forest_bytes,
                                     .share = grow_forest},
};
