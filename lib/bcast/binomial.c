/*
 * binomial: the minimum spanning tree of the papers; every rank that has the whole sends it on.
 *
 * 1. Ranks are positions in the chain order (node by node, rack by rack from the root), so that a
 *    subtree is a run of neighbours.
 * 2. A rank receives from its parent, then sends to its children, the largest subtree first.
 *
 * At most ceil(log2 p) copies enter a rack, and as many leave it.
 *
 * Cost: log2 p (Os + L + Or + Ur).
 * Source: Zhang, Qiu: High Performance Clustering of Social Images, eq. 1; Tam, Wang: a performance
 * model for commodity clusters, eq. 2 with k = 1.
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/binomial.h"
#include "lib/schedule/turns.h"

/* The turn with the parent, which the root hasn't, and then one for each child. */
static int turn(const coll_part *part, uint64_t turn, coll_step whole[]) {
    const coll_line *line = part->line;
    int parent, children[31];
    coll_tree_binomial(part->shape->topo->ranks, line->position, &parent, children);
    int child = parent < 0 ? (int)turn : (int)turn - 1;
    whole[0] = child < 0 ? coll_step_receive(line->order[parent], 0, part->own)
                         : coll_step_send(line->order[children[child]], 0, part->own);
    return 1;
}

static coll_plan_size plan_size(const coll_part *part) {
    return coll_turns_size(part->own, 1);
}

static coll_plan *make_plan(const coll_part *part, coll_plan_size size, void *memory) {
    int parent, children[31];
    int count =
        coll_tree_binomial(part->shape->topo->ranks, part->line->position, &parent, children);
    uint64_t turns = (uint64_t)(count + (parent >= 0));
    return coll_turns_plan(part, size, memory, part->own, turns, turn);
}

const coll_algorithm coll_bcast_binomial = {
    .name = "binomial",
    .summary = "the whole message down a binomial tree in rack order",
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
