/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * two_tree: a pipeline down two trees at once; for all but small data.
 *
 * Segments alternate between two trees over the nodes. Nearly every node is an inner node of one
 * tree and a leaf of the other, so that it sends about one copy of the data, as in a chain. Each
 * tree enters each rack once; the other ranks of a node follow its first rank as a chain
 * (lib/plan/two_trees.h).
 *
 * The rate is that of the chain. The first segment needs a hop for every rack, and about log2 n
 * hops in a rack of n nodes, while the chain needs a hop for every node.
 *
 * Cost: d (a + 2 c B) + (n - 1) c B for n segments of c bytes, each of which takes a + c B, and
 * depth d: a node sends to its two children in turn.
 * Source: Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and
 * scan, Parallel Computing 35 (2009).
 */
#include "config.h"

#include "lib/bcast/bcast.h"
#include "lib/plan/two_trees.h"

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_two_trees *plan = (const coll_two_trees *)base;
    uint64_t window = base->args->values->at[COLL_WINDOW];
    int count = 0;
    for (int t = 0; t < COLL_TWO_TREES; t++) {
        const coll_branch *b = &plan->branch[t];
        coll_range what = coll_two_trees_segment(plan, t, round);
        int received = -1;
        if (what.length == 0)
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
            coll_step_after(pass, 0, received);
            if (round >= window) /* limits the messages in flight to a child */
                coll_step_after(pass, (int)window, count);
            count++;
        }
    }
    return count;
}

/* Two windows of rounds: while one window of segments is sent, another arrives. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    size_t segment = coll_bcast_segment(args->shape, args->values->at[COLL_SEGMENT],
                                        2 * coll_two_trees_depth(args->shape->topo));
    return coll_two_trees_size(args, segment, 2 * args->values->at[COLL_WINDOW],
                               COLL_TWO_TREES * (1 + COLL_TWO_TREES_CHILDREN), COLL_TWO_TREES);
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_two_trees_plan(args, size, memory, plan_round);
}

const coll_algorithm coll_bcast_two_tree = {
    .name = "two_tree",
    .formerly = "bine", /* a pipeline down one tree, with the same parameters */
    .summary = "segments alternate between two trees; each host forwards in only one",
    .params = {COLL_PARAM_SEGMENT_FORMERLY("chunk", COLL_MESSAGE_BYTES "; 0: by the cost model", 0),
               COLL_PARAM_WINDOW("messages in flight to each child", 8)},
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
