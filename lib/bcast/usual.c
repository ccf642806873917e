/*
 * Broadcasts as MPI libraries do them: every rank that has the whole sends it on, down one of the
 * trees of lib/pattern/usualtree.h. They stand in for the library's own where that is priced, in
 * the order of the ranks, and are in no table.
 *
 * Up to p - 1 copies enter and leave a rack: trees that don't know racks cross uplinks anywhere.
 *
 * Cost: for each level of the tree a message for each child.
 * Source: Open MPI 4.1, coll_base_bcast.c.
 */
#include "config.h"

#include "lib/algorithm/line.h"
#include "lib/bcast/bcast.h"
#include "lib/pattern/usualtree.h"
#include "lib/schedule/turns.h"

enum { TREE }; /* the parameter */

/* This rank's children; its parent's position, or -1. */
static int place_of(const coll_part *part, int *parent, int children[]) {
    return coll_usual_tree_at((coll_usual_tree)part->values->at[TREE], part->shape->topo->ranks,
                              part->line->position, parent, children);
}

/* The turn with the parent, which the root hasn't, and then one for each child. */
static int turn(const coll_part *part, uint64_t turn, coll_step whole[]) {
    const int *order = part->line->order;
    int parent, children[COLL_USUAL_CHILDREN];
    place_of(part, &parent, children);
    const int child = parent < 0 ? (int)turn : (int)turn - 1;
    whole[0] = child < 0 ? coll_step_receive(order[parent], 0, part->own)
                         : coll_step_send(order[children[child]], 0, part->own);
    return 1;
}

static coll_plan_size plan_size(const coll_part *part) {
    return coll_turns_size(part->own, 1);
}

static coll_plan *make_plan(const coll_part *part, coll_plan_size size, void *memory) {
    int parent, children[COLL_USUAL_CHILDREN], count = place_of(part, &parent, children);
    return coll_turns_plan(part, size, memory, part->own, (uint64_t)(count + (parent >= 0)), turn);
}

#define BROADCAST(tree, number)                                                                    \
    const coll_algorithm coll_bcast_usual_##tree = {                                               \
        .name = #tree,                                                                             \
        .params = {[TREE] = {"tree", .fallback = number}},                                         \
        .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},                    \
    }

BROADCAST(line, COLL_USUAL_LINE);
BROADCAST(four_chains, COLL_USUAL_FOUR_CHAINS);
BROADCAST(binary, COLL_USUAL_BINARY);
BROADCAST(binomial, COLL_USUAL_BINOMIAL);
BROADCAST(quadrinomial, COLL_USUAL_QUADRINOMIAL);
