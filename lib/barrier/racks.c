/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * racks: notifications go up a tree in every rack, are exchanged by one rank of each rack, and go
 * down again.
 *
 * 1. Groups are sites if there are several, else racks, else hosts. In a group, notifications go up
 *    a tree to the first rank in chain order. A rank has up to k children per level: the other
 *    ranks of a host are below its first rank, first ranks of hosts below the first rank of the
 *    rack, and first ranks of racks below the first rank of the site.
 * 2. The groups' first ranks continue by dissemination with radix k: with up to k groups each sends
 *    to all others at once.
 * 3. The groups are released down the trees.
 *
 * Steps: 2 log_k of the size of a group, and log_k of the number of groups. All messages are empty.
 * For G groups, each group sends and receives up to (k - 1) log_k G messages to and from other
 * groups.
 */
#include "config.h"

#include "lib/barrier/barrier.h"
#include "lib/pattern/radix.h"

enum { RADIX };

typedef struct rack_plan {
    coll_plan base;
    int parent;              /* rank; -1: this is the first rank of its group */
    int radix, groups, mine; /* MINE: the number of this rank's group */
    int *first;              /* first rank of each group */
    int children, *child;
} rack_plan;

static coll_unit outermost_unit(const coll_topo *topo) {
    return topo->sites > 1   ? COLL_UNIT_SITE
           : topo->racks > 1 ? COLL_UNIT_RACK
           : topo->nodes > 1 ? COLL_UNIT_NODE
                             : COLL_UNIT_RANK;
}

static int groups_of(const coll_topo *topo) {
    const int groups[] = {topo->ranks, topo->nodes, topo->racks, topo->sites};
    return groups[outermost_unit(topo)];
}

/*
 * Adds this rank's children, and its parent, in the tree of its unit of kind IN, whose members are
 * the first ranks of the units one level below.
 */
static void add_level(rack_plan *plan, const coll_plan_args *args, coll_unit in) {
    const int *order = args->line->order;
    int own = args->line->position, start = own, before = 0, ranks = args->shape->topo->ranks;
    for (; !coll_plan_args_begins(args, start, in); start--)
        before += coll_plan_args_begins(args, start, in - 1);
    int number = 0, parent = (before - 1) / plan->radix;
    for (int i = start; i < ranks && (i == start || !coll_plan_args_begins(args, i, in)); i++) {
        if (!coll_plan_args_begins(args, i, in - 1))
            continue;
        if (before > 0 && number == parent)
            plan->parent = order[i];
        if (number > 0 && (number - 1) / plan->radix == before)
            plan->child[plan->children++] = order[i];
        number++;
    }
}

/*
 * Writes a round. In the first round a rank receives from its children, and in the last one it
 * releases them. In between it notifies its parent and waits to be released or, if it is the first
 * rank of its group, exchanges messages with the other groups.
 */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const rack_plan *plan = (const rack_plan *)base;
    bool up = round == 0, down = round + 1 == base->rounds;
    for (int c = 0; (up || down) && c < plan->children; c++)
        steps[c] =
            up ? coll_step_receive(plan->child[c], 0, 0) : coll_step_send(plan->child[c], 0, 0);
    if (up || down)
        return plan->children;
    if (plan->parent < 0)
        return coll_barrier_round(plan->first, plan->groups, plan->mine, plan->radix,
                                  (int)round - 1, steps);
    steps[0] = coll_step_send(plan->parent, 0, 0);
    steps[1] = coll_step_receive(plan->parent, 0, 0);
    return 2;
}

/* A window of 1: a round begins when the one before is complete. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    const coll_topo *topo = args->shape->topo;
    int radix = (int)args->values->at[RADIX], groups = groups_of(topo),
        children = (int)outermost_unit(topo) * radix, /* at most; RADIX at each level */
        told = 2 * (int)coll_least((size_t)radix, (size_t)groups);
    return (coll_plan_size){.window = 1,
                            .steps = children > told ? children : told,
                            .segments = 1,
                            .own_bytes =
                                sizeof(rack_plan) + (size_t)(groups + children) * sizeof(int)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    const coll_rank_order *line = args->line;
    coll_unit outer = outermost_unit(args->shape->topo);
    rack_plan *plan = memory;
    *plan = (rack_plan){.base = coll_plan_of(args, size, 3, plan_round),
                        .parent = -1,
                        .radix = (int)args->values->at[RADIX],
                        .first = (int *)(plan + 1)};
    plan->child = plan->first + groups_of(args->shape->topo);
    for (coll_unit in = COLL_UNIT_NODE; in <= outer && plan->parent < 0; in++)
        add_level(plan, args, in);
    for (int i = 0; i < args->shape->topo->ranks; i++) {
        if (coll_plan_args_begins(args, i, outer))
            plan->first[plan->groups++] = line->order[i];
        if (i == line->position)
            plan->mine = plan->groups - 1;
    }
    if (plan->parent < 0)
        plan->base.rounds = 2 + (uint64_t)coll_radix_digits(plan->groups, plan->radix);
    return &plan->base;
}

const coll_algorithm coll_barrier_racks = {
    .name = "racks",
    .summary = "up a tree in every rack, between racks by one rank each, and down again",
    .params =
        {[RADIX] = {"radix",
                    "most children of a rank, and messages between groups in a round, plus one",
                    .fallback = 8, .lowest = 2, .highest = COLL_BARRIER_RADIX}},
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
