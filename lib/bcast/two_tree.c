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
 * Cost: d (a + 2 c B M) + (n - 1) c B M for n segments of c bytes and depth d: a node sends to its
 * two children by turns. Two streams meet at every node, and do not share its link quite as well as
 * one alone fills it; M is what that costs. Source: Sanders, Speck, Traeff, Two-tree algorithms for
 * full bandwidth broadcast, reduction and scan, Parallel Computing 35 (2009).
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/binomial.h"
#include "lib/pattern/twotree.h"
#include "lib/schedule/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENT, WINDOW };

static const coll_param params[] = {
    [SEGMENT] = {"segment",
                 "bytes a message, under the transport's eager limit; 0: by the cost model",
                 .fallback = 0, .lowest = 0, .highest = 1 << 30, .formerly = "chunk"},
    [WINDOW] = {"window", "messages under way to each child", .fallback = 8, .lowest = 1,
                .highest = 1024},
    {.name = NULL},
};

/* The hops to the farthest node: the racks one after the other, then a tree of half of a rack. */
static double depth_of(const coll_topo *topo) {
    int rack = (topo->nodes + topo->racks - 1) / topo->racks;
    return topo->racks - 1 + 1 + coll_tree_depth((rack + 1) / 2) + topo->most_ranks_per_node - 1;
}

static size_t segment_of(const coll_shape *call, const coll_values *values) {
    return coll_bcast_segment(call, values->at[SEGMENT], 2 * depth_of(call->topo));
}

/* Two streams that meet at a port fill it less evenly than one: what that adds to the time. */
static const double meeting = 1.1;

static double predict(const coll_shape *call, const coll_values *values) {
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    double segment = fmax((double)segment_of(call, values), 1);
    int sharing = coll_profile_sharing(call->topo);
    double hop = link->wake + coll_cost_messages(link, 2, segment, sharing);
    return depth_of(call->topo) * hop +
           meeting * coll_cost_rest(link, (double)call->bytes, segment, sharing);
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
    size_t bytes, segment;
    int window;
    branch branch[TREES];
} tree_plan;

/* The nodes in chain order: the position of each one's first rank, and its rack. */
typedef struct node_line {
    int nodes, mine; /* my node's number */
    int *first, *rack;
    int *parent[TREES], *rank_of_child[TREES];
} node_line;

/* The numbers that make_line needs memory for. */
static size_t line_numbers(const coll_topo *topo) {
    size_t nodes = (size_t)topo->nodes;
    return (2 + 2 * TREES) * nodes + COLL_TWO_TREE_SCRATCH * (nodes + 1);
}

static void make_line(const coll_topo *topo, const coll_line *ranks, int *memory, node_line *line) {
    const coll_place *places = topo->places;
    const int *order = ranks->order;
    size_t most = (size_t)topo->nodes;
    line->first = memory;
    line->rack = memory + most;
    for (size_t t = 0; t < TREES; t++) {
        line->parent[t] = memory + (2 + 2 * t) * most;
        line->rank_of_child[t] = memory + (3 + 2 * t) * most;
    }
    line->nodes = 0;
    for (int i = 0; i < topo->ranks; i++) {
        if (i == 0 || places[order[i]].node != places[order[i - 1]].node) {
            line->first[line->nodes] = i;
            line->rack[line->nodes++] = places[order[i]].rack;
        }
        if (i == ranks->position)
            line->mine = line->nodes - 1;
    }
    int *scratch = memory + (2 + 2 * TREES) * most;
    coll_two_tree(line->nodes, line->rack, scratch, line->parent, line->rank_of_child);
}

/* Parents and children of this rank. */
static void take_place(int ranks, const coll_line *line, const node_line *nodes,
                       branch branches[]) {
    const int *order = line->order;
    int position = line->position, node = nodes->mine;
    int end = node + 1 < nodes->nodes ? nodes->first[node + 1] : ranks;
    bool leads = position == nodes->first[node];
    for (int t = 0; t < TREES; t++) {
        branch *b = &branches[t];
        const int *parent = nodes->parent[t];
        b->parent = -1;
        if (position > 0)
            b->parent = order[leads ? nodes->first[parent[node]] : position - 1];
        for (int nth = 0; leads && nth < 2; nth++)
            for (int other = 0; other < nodes->nodes; other++)
                if (parent[other] == node && nodes->rank_of_child[t][other] == nth)
                    b->child[b->children++] = order[nodes->first[other]];
        if (position + 1 < end)
            b->child[b->children++] = order[position + 1];
    }
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const tree_plan *plan = (const tree_plan *)base;
    int count = 0;
    for (int t = 0; t < TREES; t++) {
        const branch *b = &plan->branch[t];
        size_t segment = TREES * (size_t)round + (size_t)t, from = segment * plan->segment;
        if (from >= plan->bytes)
            break;
        size_t length = coll_segment_length(plan->bytes, plan->segment, segment);
        int received = -1;
        if (b->parent >= 0) {
            received = count++;
            steps[received] = coll_step_receive(b->parent, from, length);
            steps[received].lane = steps[received].segment = t;
        }
        for (int c = 0; c < b->children; c++) {
            coll_step *pass = &steps[count];
            *pass = coll_step_send(b->child[c], from, length);
            pass->lane = pass->segment = t;
            if (received >= 0)
                coll_step_after(pass, 0, received);
            if (round >= (uint64_t)plan->window) /* no more are under way to a child */
                coll_step_after(pass, plan->window, count);
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
        .window = (int)coll_least(2 * part->values->at[WINDOW], rounds_of(bytes, segment)),
        .steps = TREES * (1 + CHILDREN),
        .segments = TREES,
        .segment = coll_least(segment, bytes),
        .own_bytes = sizeof(tree_plan) + line_numbers(part->shape->topo) * sizeof(int)};
}

static coll_plan *make_plan(const coll_part *part, coll_plan_size size, void *memory) {
    const coll_topo *topo = part->shape->topo;
    size_t bytes = part->shape->bytes;
    tree_plan *plan = memory;
    *plan = (tree_plan){
        .base = {.size = size, .rounds = rounds_of(bytes, size.segment), .round = plan_round},
        .bytes = bytes,
        .segment = size.segment,
        .window = (int)part->values->at[WINDOW]};
    node_line nodes;
    make_line(topo, part->line, (int *)(plan + 1), &nodes);
    take_place(topo->ranks, part->line, &nodes, plan->branch);
    return &plan->base;
}

static const coll_planner planner = {.size = plan_size, .plan = make_plan};

const coll_bcast_algorithm coll_bcast_two_tree = {
    .base = {.name = "two_tree",
             .summary = "segments alternate between two trees; each host forwards in only one",
             .params = params,
             .predict = predict,
             .planner = &planner},
};
