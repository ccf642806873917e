/*
 * racks: up a tree in every rack, between the racks by one rank each, and down again.
 *
 * 1. Groups are sites where there are several, else racks, else hosts. In a group its first rank in
 *    chain order hears of all the others up a tree in which a rank has up to k children: between
 *    the first ranks of hosts below those of racks, below that of the site.
 * 2. The groups' first ranks go on by dissemination of radix k: with up to k groups each tells all
 *    others at once.
 * 3. Their groups hear of the end down the trees.
 *
 * Steps: 2 log_k of a group, and log_k of the groups. All messages are empty; a group sends and
 * gets (k - 1) log_k of their number.
 */
#include "config.h"

#include "lib/barrier/barrier.h"
#include "lib/pattern/radix.h"

enum { RADIX };

typedef struct rack_plan {
    coll_plan base;
    int parent;              /* rank; -1: this one is its group's first */
    int radix, groups, mine; /* the number of this rank's group */
    int *first;              /* rank of each group */
    int children, *child;
} rack_plan;

static coll_unit outermost(const coll_topo *topo) {
    return topo->sites > 1   ? COLL_UNIT_SITE
           : topo->racks > 1 ? COLL_UNIT_RACK
           : topo->nodes > 1 ? COLL_UNIT_NODE
                             : COLL_UNIT_RANK;
}

static int groups_of(const coll_topo *topo) {
    const int groups[] = {topo->ranks, topo->nodes, topo->racks, topo->sites};
    return groups[outermost(topo)];
}

/* Of a rank, at most: some at every level. */
static int most_children(const coll_topo *topo, int radix) {
    return (int)outermost(topo) * radix;
}

/* This rank's place in the tree over those that are first one level below, of the group that it is
 * in: its children there, and its parent. */
static void climb(rack_plan *plan, const coll_part *part, coll_unit in) {
    const int *order = part->line->order;
    int own = part->line->position, start = own, before = 0, ranks = part->shape->topo->ranks;
    for (; !coll_part_begins(part, start, in); start--)
        before += coll_part_begins(part, start, in - 1);
    int number = 0, parent = (before - 1) / plan->radix;
    for (int i = start; i < ranks && (i == start || !coll_part_begins(part, i, in)); i++) {
        if (!coll_part_begins(part, i, in - 1))
            continue;
        if (before > 0 && number == parent)
            plan->parent = order[i];
        if (number > 0 && (number - 1) / plan->radix == before)
            plan->child[plan->children++] = order[i];
        number++;
    }
}

/* Up; then to and from the parent, or the other groups; then down. */
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

/* A round begins when the one before is complete. */
static coll_plan_size plan_size(const coll_part *part) {
    const coll_topo *topo = part->shape->topo;
    int radix = (int)part->values->at[RADIX], groups = groups_of(topo),
        children = most_children(topo, radix),
        told = 2 * (int)coll_least((size_t)radix, (size_t)groups);
    return (coll_plan_size){.window = 1,
                            .steps = children > told ? children : told,
                            .segments = 1,
                            .own_bytes =
                                sizeof(rack_plan) + (size_t)(groups + children) * sizeof(int)};
}

static coll_plan *make_plan(const coll_part *part, coll_plan_size size, void *memory) {
    const coll_line *line = part->line;
    coll_unit outer = outermost(part->shape->topo);
    rack_plan *plan = memory;
    *plan = (rack_plan){.base = coll_plan_of(part, size, 3, plan_round),
                        .parent = -1,
                        .radix = (int)part->values->at[RADIX],
                        .first = (int *)(plan + 1)};
    plan->child = plan->first + groups_of(part->shape->topo);
    for (coll_unit in = COLL_UNIT_NODE; in <= outer && plan->parent < 0; in++)
        climb(plan, part, in);
    for (int i = 0; i < part->shape->topo->ranks; i++) {
        if (coll_part_begins(part, i, outer))
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
    .params = {[RADIX] = {"radix",
                          "children of a rank, and what one tells others in a round, plus one",
                          .fallback = 8, .lowest = 2, .highest = COLL_BARRIER_RADIX}},
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
