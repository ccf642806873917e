/*
 * all_sites: at several sites, by the shortest ways between them.
 *
 * 1. In every site its first rank hears of all others up binomial trees (hlot/sites.h).
 * 2. From there each site's word goes to all others, down the tree of the shortest ways from its
 *    site.
 * 3. A site that has heard of all of them tells its ranks down the trees.
 *
 * Steps: the longest of the shortest ways between any two sites, and 2 ceil(log2 n) for n ranks of
 * a site. All messages are empty: of S sites S - 1 come to each, and as many go from it on average.
 * Source: Park and others: An Efficient Collective Communication Method for Grid Scale Networks.
 */
#include "config.h"

#include "hlot/sites.h"

typedef struct word_plan {
    coll_trees trees;
    hlot_visitor visitors[HLOT_SITES_SUMMED]; /* words; none where there is a parent */
    int ranks[];                              /* to whom they go */
} word_plan;

/* Each word is passed on when it is here. */
static int meet_sites(const word_plan *plan, coll_step steps[]) {
    int count = 0;
    for (int site = 0; site < plan->trees.base.part->shape->topo->sites; site++) {
        const hlot_visitor *v = &plan->visitors[site];
        const int here = count;
        if (v->from >= 0)
            steps[count++] = coll_step_receive(v->from, 0, 0);
        for (int i = 0; i < v->goes_to; i++) {
            steps[count] = coll_step_send(v->to[i], 0, 0);
            if (v->from >= 0)
                coll_step_after(&steps[count], 0, here);
            count++;
        }
    }
    return count;
}

static int meet_parent(int parent, coll_step steps[]) {
    steps[0] = coll_step_send(parent, 0, 0);
    steps[1] = coll_step_receive(parent, 0, 0);
    return 2;
}

/* Up; then to and from the parent, or the other sites; then down. */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_trees *trees = (const coll_trees *)base;
    if (round == 1)
        return trees->parent < 0 ? meet_sites((const word_plan *)base, steps)
                                 : meet_parent(trees->parent, steps);
    for (int c = 0; c < trees->children; c++)
        steps[c] = round == 0 ? coll_step_receive(trees->child[c], 0, 0)
                              : coll_step_send(trees->child[c], 0, 0);
    return trees->children;
}

/* A round begins when the one before is complete. */
static coll_plan_size plan_size(const coll_part *part) {
    const int sites = part->shape->topo->sites, children = hlot_sites_children(part),
              words = sites * sites + sites;
    return (coll_plan_size){.window = 1,
                            .steps = children > words ? children : words,
                            .segments = 1,
                            .segment = 1,
                            .own_bytes =
                                sizeof(word_plan) + (size_t)sites * (size_t)sites * sizeof(int)};
}

static coll_plan *make_plan(const coll_part *part, coll_plan_size size, void *memory) {
    int first[HLOT_SITES_SUMMED];
    word_plan *plan = (word_plan *)hlot_sites_open(part, size, memory, first);
    if (plan->trees.parent < 0)
        hlot_sites_visitors(part, first, plan->visitors, plan->ranks);
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
