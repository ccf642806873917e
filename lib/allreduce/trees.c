/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/allreduce/trees.h"

#include "lib/pattern/binomial.h"

enum { NONE = -1 };

/* A round's memory has one segment for data that is sent, and one for each sum that is received. */
coll_plan_size coll_trees_size(const coll_plan_args *args, int most) {
    size_t segment = coll_segment_given(args),
           segments = coll_segment_count(args->shape->bytes, segment);
    return (coll_plan_size){.window = (int)coll_least(args->values->at[COLL_WINDOW], segments),
                            .steps = 3 * most + 2,
                            .segments = 1 + most,
                            .segment = segment,
                            .own_bytes = sizeof(coll_trees)};
}

/* --- Rounds --- */

coll_step *coll_trees_add(coll_trees_draft *d, coll_step step, int after) {
    coll_step *added = &d->steps[d->count++];
    *added = step;
    coll_step_after(added, 0, after);
    return added;
}

static void send_data(coll_trees_draft *d, int peer) {
    coll_trees_add(d, coll_step_send(peer, d->from, d->length), d->changed);
}

/*
 * Adds the steps that receive PEER's sum into SEGMENT and combine it with the data once step AFTER
 * is complete, too. If BEFORE, the received sum is the first operand.
 */
static void receive_and_combine(coll_trees_draft *d, int peer, int segment, bool before,
                                int after) {
    coll_step *receive = coll_trees_add(d, coll_step_receive(peer, d->from, d->length), NONE);
    receive->buffer = COLL_SCRATCH;
    receive->segment = segment;
    coll_step *sum = coll_trees_add(
        d, coll_step_combine(COLL_DATA, d->from, d->length, false, before), d->count - 1);
    sum->segment = segment;
    coll_step_after(sum, 0, after);
    d->changed = d->count - 1;
}

static void exchange_with_peers(const coll_trees *plan, coll_trees_draft *d) {
    for (int i = 0; i < plan->peers; i++) {
        send_data(d, plan->peer[i]);
        receive_and_combine(d, plan->peer[i], 1 + plan->children + i, plan->before[i],
                            d->count - 1);
    }
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_trees *plan = (const coll_trees *)base;
    size_t segment = base->size.segment;
    coll_trees_draft d = {.steps = steps,
                          .changed = NONE,
                          .from = (size_t)round * segment,
                          .length =
                              coll_segment_length(plan->base.args->shape->bytes, segment, round)};
    for (int i = 0; i < plan->children; i++)
        receive_and_combine(&d, plan->child[i], 1 + i, false, d.changed);
    plan->exchange(plan, &d);
    if (plan->parent != NONE) {
        send_data(&d, plan->parent);
        coll_trees_add(&d, coll_step_receive(plan->parent, d.from, d.length), d.count - 1);
        d.changed = d.count - 1;
    }
    for (int i = plan->children; i-- > 0;) /* the farthest child first */
        send_data(&d, plan->child[i]);
    return d.count;
}

/* --- The ranks with which a rank communicates --- */

coll_trees *coll_trees_open(const coll_plan_args *args, coll_plan_size size, void *memory) {
    coll_trees *plan = memory;
    *plan = (coll_trees){.base = coll_plan_of(args, size,
                                              coll_segment_count(args->shape->bytes, size.segment),
                                              plan_round),
                         .parent = NONE,
                         .exchange = exchange_with_peers};
    return plan;
}

int coll_trees_depth(const coll_plan_args *args, coll_unit unit, coll_unit whole) {
    return coll_tree_depth(coll_rank_order_extent(args->line, args->shape->topo, unit, whole).most);
}

/*
 * The first ranks of all UNITs of a whole, which begins at position FIRST: their number, and this
 * rank's index among them.
 */
typedef struct members {
    const coll_plan_args *args;
    coll_unit unit;
    int first, count, index;
} members;

static members members_of(const coll_plan_args *args, coll_unit unit, coll_unit whole) {
    members all = {.args = args, .unit = unit, .first = args->line->position};
    if (unit == COLL_UNIT_RANK && whole == COLL_UNIT_ALL) {
        all.first = 0;
        all.index = args->line->position;
        all.count = args->shape->topo->ranks;
        return all;
    }
    while (!coll_plan_args_begins(args, all.first, whole))
        all.first--;
    int position = all.first;
    do {
        all.index += position < args->line->position && coll_plan_args_begins(args, position, unit);
        all.count += coll_plan_args_begins(args, position, unit);
        position++;
    } while (position < args->shape->topo->ranks && !coll_plan_args_begins(args, position, whole));
    return all;
}

static int member_rank(const members *all, int index) {
    int position = all->first + (all->unit == COLL_UNIT_RANK ? index : 0);
    if (all->unit != COLL_UNIT_RANK)
        while (index > 0)
            index -= coll_plan_args_begins(all->args, ++position, all->unit);
    return all->args->line->order[position];
}

/* Children are added in the order of the line, the nearest child first. */
void coll_trees_join(coll_trees *plan, coll_unit unit, coll_unit whole) {
    int parent, children[31];
    if (plan->parent != NONE)
        return;
    members all = members_of(plan->base.args, unit, whole);
    int count = coll_tree_binomial(all.count, all.index, &parent, children);
    while (count > 0)
        plan->child[plan->children++] = member_rank(&all, children[--count]);
    if (parent >= 0)
        plan->parent = member_rank(&all, parent);
}

void coll_trees_double(coll_trees *plan, coll_unit unit) {
    if (plan->parent != NONE)
        return;
    members all = members_of(plan->base.args, unit, COLL_UNIT_ALL);
    int power = 1 << coll_tree_doublings(all.count), pairs = all.count - power;
    bool paired = all.index < 2 * pairs;
    if (paired && all.index % 2) {
        plan->parent = member_rank(&all, all.index - 1);
        return;
    }
    if (paired)
        plan->child[plan->children++] = member_rank(&all, all.index + 1);
    int own = paired ? all.index / 2 : all.index - pairs;
    for (int bit = 1; bit < power; bit *= 2) {
        int other = own ^ bit;
        plan->before[plan->peers] = other < own;
        plan->peer[plan->peers++] = member_rank(&all, other < pairs ? 2 * other : other + pairs);
    }
}
