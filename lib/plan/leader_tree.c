/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/plan/leader_tree.h"

#include "lib/pattern/binomial.h"

static int ranks_of_node(const coll_plan_args *args, int first) {
    return coll_plan_args_ranks(args, first, COLL_UNIT_NODE);
}

int coll_leader_tree_children(const coll_plan_args *args) {
    const int first = ranks_of_node(args, 0), others = args->shape->topo->nodes - 1;
    return coll_tree_depth(args->shape->topo->ranks) + (others + first - 1) / first;
}

int coll_leader_tree(const coll_plan_args *args, int *parent, int children[]) {
    const int *order = args->line->order, others = args->shape->topo->nodes - 1,
              roots = ranks_of_node(args, 0), own = args->line->position;
    int node = 0, first = 0, count = 0;
    for (int end = roots; end <= own; end += ranks_of_node(args, end), node++)
        first = end;
    int above, below[31];
    const int inside = coll_tree_binomial(ranks_of_node(args, first), own - first, &above, below);
    for (int i = 0; i < inside; i++)
        children[count++] = order[first + below[i]];
    *parent = above >= 0 ? order[first + above]
              : node > 0 ? order[coll_block_at((size_t)others, roots, (size_t)(node - 1))]
                         : -1;
    if (node > 0)
        return count;
    const size_t served = coll_block_start((size_t)others, roots, own),
                 end = coll_block_start((size_t)others, roots, own + 1);
    int begins = roots;
    for (size_t other = 0; other < end; other++, begins += ranks_of_node(args, begins))
        if (other >= served)
            children[count++] = order[begins];
    return count;
}

bool coll_leader_tree_applies(const coll_shape *call) {
    return call->topo->nodes > 1 && call->topo->sites == 1 && call->topo->ranks > call->topo->nodes;
}
