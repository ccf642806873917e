/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_sites: for small data at several sites.
 *
 * 1. In every site, sums go up binomial trees to its first rank (hlot/sites.h).
 * 2. From there, each site's sum goes to all other sites, down the tree of the shortest paths from
 *    its site. A rank passes sums on in the order in which they are expected to arrive on these
 *    paths.
 * 3. Each first rank adds up all sums in the order of the sites, and the result goes down in its
 *    site.
 *
 * Steps: the longest of the shortest paths between any two sites, and 2 ceil(log2 n) for n ranks of
 * a site.
 *
 * Bytes: with S sites, the first rank of a site receives (S - 1) m, and sends as many bytes on
 * average. The first rank of a site through which all paths lead sends up to (S - 1)^2 m.
 *
 * Memory: for each segment of the window, a segment for each site and for each child in the rank's
 * site.
 *
 * Source: Park and others.
 */
#include "config.h"

#include "hlot/sites.h"

typedef struct exchange {
    coll_trees trees;
    hlot_site_message messages[HLOT_SITES_SUMMED]; /* sums */
    int ranks[];                                   /* the ranks to which this rank sends sums */
} exchange;

static coll_step in_scratch(coll_step step, int segment) {
    step.buffer = COLL_SCRATCH;
    step.segment = segment;
    return step;
}

/*
 * Receives the sum that V describes, or copies this site's own sum, and passes the sum on. Returns
 * the index of the step after which the sum is available.
 */
static int receive_and_pass_on(const hlot_site_message *v, int segment, coll_trees_draft *d) {
    int here = d->count;
    if (v->from < 0)
        coll_trees_add(d, coll_step_copy(COLL_DATA, d->from, d->length, true), d->changed)
            ->segment = segment;
    else
        coll_trees_add(d, in_scratch(coll_step_receive(v->from, d->from, d->length), segment), -1);
    for (int i = 0; i < v->to_count; i++)
        coll_trees_add(d, in_scratch(coll_step_send(v->to[i], d->from, d->length), segment), here);
    return here;
}

/*
 * Receives and passes on all sums, and then adds them up in place of this site's own sum. Sums that
 * are still being sent must not change, so they are first operands, which are only read.
 */
static void exchange_sums(const coll_trees *plan, coll_trees_draft *d) {
    const exchange *all = (const exchange *)plan;
    const int sites = plan->base.args->shape->topo->sites, first = 1 + plan->children;
    int here[HLOT_SITES_SUMMED], own = 0;
    for (int i = 0; i < sites; i++) {
        const hlot_site_message *v = &all->messages[i];
        here[v->site] = receive_and_pass_on(v, first + v->site, d);
        if (v->from < 0)
            own = here[v->site];
    }
    for (int site = 0; site < sites; site++) {
        coll_step step = site == 0 ? coll_step_copy(COLL_DATA, d->from, d->length, false)
                                   : coll_step_combine(COLL_DATA, d->from, d->length, false, true);
        step.segment = first + site;
        coll_step *added = coll_trees_add(d, step, here[site]);
        coll_step_after(added, 0, site == 0 ? own : d->count - 2);
        d->changed = d->count - 1;
    }
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    const int sites = args->shape->topo->sites;
    coll_plan_size size = hlot_sites_size(args);
    size.steps += sites * sites;
    size.own_bytes = sizeof(exchange) + (size_t)sites * (size_t)sites * sizeof(int);
    return size;
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    int first[HLOT_SITES_SUMMED];
    exchange *plan = (exchange *)hlot_sites_open(args, size, memory, first);
    if (plan->trees.parent >= 0)
        return &plan->trees.base;
    hlot_sites_messages(args, first, plan->messages, plan->ranks);
    plan->trees.exchange = exchange_sums;
    return &plan->trees.base;
}

const coll_algorithm hlot_allreduce_all_sites = {
    .name = "all_sites",
    .summary = "up a tree in each site, from each to all others by the shortest ways, and down",
    .params = HLOT_SITES_PARAMS,
    .applicable = hlot_sites_apply,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
    .prepare = hlot_sites_prepare,
};
