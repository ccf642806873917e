#include "config.h"

#include "lib/allreduce/trees.h"

#include "lib/pattern/binomial.h"

enum { NONE = -1 };

static int count_segments(const coll_part *part, size_t segment) {
    uint64_t segments = coll_segment_count(part->shape->bytes, segment);
    return segments < INT32_MAX ? (int)segments : INT32_MAX;
}

/* A round's memory: one segment that all that is sent passes, and one for each sum that comes. */
coll_plan_size coll_trees_size(const coll_part *part, int most) {
    const coll_shape *shape = part->shape;
    size_t segment = coll_least(coll_segment_of(shape, part->values->at[COLL_TREES_SEGMENT]),
                                shape->bytes),
           segments = (size_t)count_segments(part, segment);
    return (coll_plan_size){.window =
                                (int)coll_least(part->values->at[COLL_TREES_WINDOW], segments),
                            .steps = 3 * most + 2,
                            .segments = 1 + most,
                            .segment = segment,
                            .own_bytes = sizeof(coll_trees)};
}

/* --- Rounds --- */

/* A round as it is written: the last step that changed the data, or NONE. */
typedef struct draft {
    coll_step *steps;
    int count, merged;
    size_t from, length;
} draft;

static coll_step *add(draft *d, coll_step step, int after) {
    coll_step *added = &d->steps[d->count++];
    *added = step;
    if (after != NONE)
        coll_step_after(added, 0, after);
    return added;
}

static void send(draft *d, int peer) {
    add(d, coll_step_send(peer, d->from, d->length), d->merged);
}

/* The sum of PEER comes to memory of its own, and is merged once step AFTER is complete, too. */
static void merge(draft *d, int peer, int segment, bool before, int after) {
    coll_step *receive = add(d, coll_step_receive(peer, d->from, d->length), NONE);
    receive->buffer = COLL_SCRATCH;
    receive->segment = segment;
    coll_step *sum =
        add(d, coll_step_combine(COLL_DATA, d->from, d->length, false, before), d->count - 1);
    sum->segment = segment;
    if (after != NONE)
        coll_step_after(sum, 0, after);
    d->merged = d->count - 1;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_trees *plan = (const coll_trees *)base;
    size_t segment = base->size.segment;
    draft d = {.steps = steps,
               .merged = NONE,
               .from = (size_t)round * segment,
               .length = coll_segment_length(plan->part->shape->bytes, segment, round)};
    for (int i = 0; i < plan->children; i++)
        merge(&d, plan->child[i], 1 + i, false, d.merged);
    for (int i = 0; i < plan->peers; i++) {
        send(&d, plan->peer[i]);
        merge(&d, plan->peer[i], 1 + plan->children + i, plan->before[i], d.count - 1);
    }
    if (plan->parent != NONE) {
        send(&d, plan->parent);
        add(&d, coll_step_receive(plan->parent, d.from, d.length), d.count - 1);
        d.merged = d.count - 1;
    }
    for (int i = plan->children; i-- > 0;) /* the largest subtree first */
        send(&d, plan->child[i]);
    return d.count;
}

/* --- Whom a rank meets --- */

coll_trees *coll_trees_open(const coll_part *part, coll_plan_size size, void *memory) {
    coll_trees *plan = memory;
    *plan = (coll_trees){.base = {.size = size,
                                  .rounds = coll_segment_count(part->shape->bytes, size.segment),
                                  .round = plan_round},
                         .part = part,
                         .parent = NONE};
    return plan;
}

static int rank_of(const coll_trees *plan, const coll_members *members, int index) {
    return plan->part->line->order[members->place(plan->part, index)];
}

/* Children are merged in the order of the line: the smallest subtree first. */
void coll_trees_join(coll_trees *plan, coll_members members) {
    int parent, children[31];
    int count = coll_tree_binomial(members.count, members.index, &parent, children);
    while (count > 0)
        plan->child[plan->children++] = rank_of(plan, &members, children[--count]);
    if (parent >= 0)
        plan->parent = rank_of(plan, &members, parent);
}

/* The largest power of two that is at most COUNT. */
static int power_below(int count) {
    int depth = coll_tree_depth(count);
    return 1 << (depth - (1 << depth > count));
}

int coll_trees_doublings(int count) {
    return 1 + coll_tree_depth(count);
}

void coll_trees_double(coll_trees *plan, coll_members members) {
    int power = power_below(members.count), paired = 2 * (members.count - power),
        index = members.index;
    if (index < paired) {
        int other = rank_of(plan, &members, index ^ 1);
        if (index % 2)
            plan->parent = other;
        else
            plan->child[plan->children++] = other;
    }
    if (plan->parent != NONE)
        return;
    int own = index < paired ? index / 2 : index - paired / 2;
    for (int bit = 1; bit < power; bit *= 2) {
        int other = own ^ bit, at = other < paired / 2 ? 2 * other : other + paired / 2;
        plan->before[plan->peers] = other < own;
        plan->peer[plan->peers++] = rank_of(plan, &members, at);
    }
}
