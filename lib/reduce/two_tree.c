/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * two_tree: sums go up two trees at once, in segments; for all but small data.
 *
 * The trees are those of the broadcast of the same name (lib/plan/two_trees.h): nearly every node
 * is an inner node of one tree and a leaf of the other, and each tree leaves every rack once. In
 * each tree a rank adds its children's sums to its own data, segment by segment, and sends the
 * result to its parent.
 *
 * The rate is that of the chain, but the first segment needs only a hop for every rack, and about
 * log2 n hops in a rack of n nodes. The order of combination is that of the trees: for commutative
 * operations only.
 *
 * Steps: 2 (d - 1) + n for n segments and depth d: a node receives from its two children in turn.
 * Bytes: m from every rank and about as many to it, and m over each uplink, once. Memory: a segment
 * for each of up to three children in both trees, for each round of the window.
 * Source: Sanders, Speck, Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and
 * scan, Parallel Computing 35 (2009).
 */
#include "config.h"

#include "lib/plan/tuned.h"
#include "lib/plan/two_trees.h"
#include "lib/reduce/reduce.h"
#include "lib/reduce/tree.h"

#include <math.h>

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_two_trees *plan = (const coll_two_trees *)base;
    int count = 0;
    for (int t = 0; t < COLL_TWO_TREES; t++) {
        const coll_branch *b = &plan->branch[t];
        const coll_kin kin = {.parent = b->parent,
                              .children = b->children,
                              .child = b->child,
                              .lane = t,
                              .segment = t * COLL_TWO_TREES_CHILDREN};
        coll_range what = coll_two_trees_segment(plan, t, round);
        if (what.length > 0)
            count = coll_reduce_up(&kin, what, steps, count);
    }
    return count;
}

/*
 * Returns the user's window. If there is none, returns how many rounds a link passes while a
 * message goes up a tree from node to node: in each round a rank is a leaf of one tree and an inner
 * node of the other, so it can't be further ahead than its window. At least FEWEST, at most MOST.
 */
static size_t window_of(const coll_plan_args *args, size_t segment) {
    enum { FEWEST = 4, MOST = 16 };
    const coll_topo *topo = args->shape->topo;
    const coll_cost *link = coll_profile_outermost(args->shape->profile, topo);
    if (args->values->at[COLL_WINDOW])
        return (size_t)args->values->at[COLL_WINDOW];
    const double hops = coll_two_trees_depth(topo) - (topo->most_ranks_per_node - 1),
                 round = COLL_TWO_TREES * (double)segment * link->per_byte;
    return (size_t)fmin(fmax(hops * coll_cost_relay(link, 0) / round, FEWEST), MOST);
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    size_t segment = coll_segment_asked(args, 2 * coll_two_trees_depth(args->shape->topo));
    return coll_two_trees_size(args, segment, window_of(args, segment),
                               COLL_TWO_TREES * (2 * COLL_TWO_TREES_CHILDREN + 1),
                               COLL_TWO_TREES * COLL_TWO_TREES_CHILDREN);
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_two_trees_plan(args, size, memory, plan_round);
}

const coll_algorithm coll_reduce_two_tree = {
    .name = "two_tree",
    .summary = "segments of the sums alternate between two trees; each host adds in only one",
    .params = {COLL_PARAM_SEGMENT(COLL_MESSAGE_BYTES "; 0: by the cost model", 0),
               COLL_PARAM_WINDOW("segments in flight, in each tree; 0: by the cost model", 0)},
    .applicable = coll_order_is_free,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
