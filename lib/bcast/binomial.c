/*
 * Every rank that has the whole message forwards it, down a tree.
 *
 * binomial: the minimum spanning tree of the papers. Ranks are positions in the chain order (node
 * by node, rack by rack from the root), so that a subtree is a run of neighbours; a rank sends to
 * the root of its largest subtree first. At most ceil(log2 p) copies enter a rack, and as many
 * leave it.
 *
 * Cost: log2 p (Os + L + Or + Ur).
 * Source: Zhang, Qiu: High Performance Clustering of Social Images, eq. 1; Tam, Wang: a performance
 * model for commodity clusters, eq. 2 with k = 1.
 *
 * The others use the trees of MPI libraries (lib/pattern/usualtree.h), with the ranks in the order
 * of their numbers. They represent the library's own broadcast when its time is predicted, and are
 * in no table. Up to p - 1 copies enter and leave a rack, since these trees ignore racks.
 *
 * Cost: for each level of the tree a message to each child.
 * Source: Open MPI 4.1, coll_base_bcast.c.
 */
#include "config.h"

#include "lib/algorithm/rank_order.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/binomial.h"
#include "lib/pattern/usualtree.h"
#include "lib/plan/staged_plan.h"

/* One turn with the parent (except at the root), and then one with each child. */
typedef struct tree_plan {
    coll_staged_plan turns;
    int kin[1 + COLL_USUAL_CHILDREN]; /* positions of the parent, or -1, and of the children */
} tree_plan;

static int plan_turn(const coll_staged_plan *turns, uint64_t turn, coll_step whole[]) {
    const int *kin = ((const tree_plan *)turns)->kin;
    const coll_plan_args *part = turns->base.part;
    uint64_t next = kin[0] < 0 ? turn + 1 : turn;
    int peer = part->line->order[kin[next]];
    whole[0] =
        next == 0 ? coll_step_receive(peer, 0, part->own) : coll_step_send(peer, 0, part->own);
    return 1;
}

static coll_plan_size plan_size(const coll_plan_args *part) {
    coll_plan_size size = coll_staged_plan_size(part->own, 1);
    size.own_bytes = sizeof(tree_plan);
    return size;
}

static coll_plan *plan_down(const coll_plan_args *part, coll_plan_size size, void *memory,
                            coll_usual_tree *tree) {
    int *kin = ((tree_plan *)memory)->kin;
    int count = tree(part->shape->topo->ranks, part->line->position, &kin[0], &kin[1]);
    uint64_t turns = (uint64_t)(count + (kin[0] >= 0));
    return coll_staged_plan_make(part, size, memory, part->own, turns, plan_turn);
}

#define DOWN(algorithm, tree, what)                                                                \
    static coll_plan *plan_##algorithm(const coll_plan_args *part, coll_plan_size size,            \
                                       void *memory) {                                             \
        return plan_down(part, size, memory, tree);                                                \
    }                                                                                              \
    const coll_algorithm coll_bcast_##algorithm = {                                                \
        .name = #algorithm,                                                                        \
        .summary = "the whole message down a " what,                                               \
        .planner = &(const coll_planner){.size = plan_size, .plan = plan_##algorithm},             \
    }

DOWN(binomial, coll_tree_binomial, "binomial tree in rack order");
DOWN(usual_line, coll_usual_line, "line");
DOWN(usual_binary, coll_usual_binary, "binary tree");
DOWN(usual_binomial, coll_usual_binomial, "binomial tree");
DOWN(usual_quadrinomial, coll_usual_quadrinomial, "quadrinomial tree");
