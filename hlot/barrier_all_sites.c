/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_sites: at several sites, on the shortest paths between them.
 *
 * 1. In every site, notifications go up binomial trees to its first rank (hlot/sites.h).
 * 2. From there, each site's notification goes to all other sites, down the tree of the shortest
 *    paths from its site.
 * 3. When the notifications of all other sites have arrived at a site, its first rank notifies the
 *    other ranks of the site, down the trees.
 *
 * Steps: the longest of the shortest paths between any two sites, and 2 ceil(log2 n) for n ranks of
 * a site. All messages are empty: with S sites, each first rank receives S - 1 of them from other
 * sites, and sends as many on average.
 *
 * Source: Park and others.
 */
#include "config.h"

#include "hlot/sites.h"

typedef struct barrier_plan {
    coll_trees trees;
    hlot_site_message messages[HLOT_SITES_SUMMED]; /* notifications; unused if there is a parent */
    int ranks[];                                   /* the ranks that this rank notifies */
} barrier_plan;

/* Passes each notification on when it has arrived. */
static int exchange_with_sites(const barrier_plan *plan, coll_step steps[]) {
    int count = 0;
    for (int site = 0; site < plan->trees.base.args->shape->topo->sites; site++) {
        const hlot_site_message *v = &plan->messages[site];
        const int here = count;
        if (v->from >= 0)
            steps[count++] = coll_step_receive(v->from, 0, 0);
        for (int i = 0; i < v->to_count; i++) {
            steps[count] = coll_step_send(v->to[i], 0, 0);
            if (v->from >= 0)
                coll_step_after(&steps[count], 0, here);
            count++;
        }
    }
    return count;
}

/* Round 0 notifies upwards; round 1 exchanges with the parent or the other sites; round 2 notifies
 * downwards. */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_trees *trees = (const coll_trees *)base;
    if (round == 1 && trees->parent < 0)
        return exchange_with_sites((const barrier_plan *)base, steps);
    if (round == 1) {
        steps[0] = coll_step_send(trees->parent, 0, 0);
        steps[1] = coll_step_receive(trees->parent, 0, 0);
        return 2;
    }
    for (int c = 0; c < trees->children; c++)
        steps[c] = round == 0 ? coll_step_receive(trees->child[c], 0, 0)
                              : coll_step_send(trees->child[c], 0, 0);
    return trees->children;
}

/* With a window of 1, a round begins when the one before is complete. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    const int sites = args->shape->topo->sites, children = hlot_sites_children(args),
              words = sites * sites + sites;
    return (coll_plan_size){.window = 1,
                            .steps = children > words ? children : words,
                            .segments = 1,
                            .segment = 1,
                            .own_bytes =
                                sizeof(barrier_plan) + (size_t)sites * (size_t)sites * sizeof(int)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    int first[HLOT_SITES_SUMMED];
    barrier_plan *plan = (barrier_plan *)hlot_sites_open(args, size, memory, first);
    if (plan->trees.parent < 0)
        hlot_sites_messages(args, first, plan->messages, plan->ranks);
    plan->trees.base.rounds = 3;
    plan->trees.base.round = plan_round;
    return &plan->trees.base;
}

const coll_algorithm hlot_barrier_all_sites = {
    .name = "all_sites",
    .summary = "up a tree in each site, from each to all others by the shortest ways, and down",
    .applicable = hlot_sites_apply,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
    .prepare = hlot_sites_prepare,
};
