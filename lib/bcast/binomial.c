/*
 * Every rank that has the whole sends it on, down a tree.
 *
 * binomial: the minimum spanning tree of the papers. Ranks are positions in the chain order (node
 * by node, rack by rack from the root), so that a subtree is a run of neighbours; the largest one
 * comes first. At most ceil(log2 p) copies enter a rack, and as many leave it.
 *
 * Cost: log2 p (Os + L + Or + Ur).
 * Source: Zhang, Qiu: High Performance Clustering of Social Images, eq. 1; Tam, Wang: a performance
 * model for commodity clusters, eq. 2 with k = 1.
 *
 * The others are as MPI libraries have them (lib/pattern/usualtree.h). They stand in for the
 * library's own where that is priced, in the order of the ranks, and are in no table. Up to p - 1
 * copies enter and leave a rack: trees that don't know racks cross uplinks anywhere.
 *
 * Cost: for each level of the tree a message for each child.
 * Source: Open MPI 4.1, coll_base_bcast.c.
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/binomial.h"
#include "lib/pattern/usualtree.h"
#include "lib/schedule/turns.h"

/* A turn with the parent, which the root hasn't, and then one with each child. */
typedef struct tree_plan {
    coll_turns turns;
    int kin[1 + COLL_USUAL_CHILDREN]; /* positions: the parent's, or -1, and the children's */
} tree_plan;

static int turn(const coll_turns *turns, uint64_t turn, coll_step whole[]) {
    const int *kin = ((const tree_plan *)turns)->kin;
    const coll_part *part = turns->base.part;
    uint64_t next = kin[0] < 0 ? turn + 1 : turn;
    int peer = part->line->order[kin[next]];
    whole[0] =
        next == 0 ? coll_step_receive(peer, 0, part->own) : coll_step_send(peer, 0, part->own);
    return 1;
}

static coll_plan_size plan_size(const coll_part *part) {
    coll_plan_size size = coll_turns_size(part->own, 1);
    size.own_bytes = sizeof(tree_plan);
    return size;
}

static coll_plan *plan_down(const coll_part *part, coll_plan_size size, void *memory,
                            coll_usual_tree *tree) {
    int *kin = ((tree_plan *)memory)->kin;
    int count = tree(part->shape->topo->ranks, part->line->position, &kin[0], &kin[1]);
    uint64_t turns = (uint64_t)(count + (kin[0] >= 0));
    return coll_turns_plan(part, size, memory, part->own, turns, turn);
}

#define DOWN(algorithm, tree, what)                                                                \
    static coll_plan *plan_##algorithm(const coll_part *part, coll_plan_size size, void *memory) { \
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
