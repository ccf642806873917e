/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binomial: blocks go up a binomial tree, streamed in segments.
 *
 * 1. Ranks are positions in the chain order (node by node, rack by rack from the root), so that a
 *    subtree is a run of neighbours, and its blocks in the order of positions are one stream.
 * 2. The stream is cut at multiples of a segment, counted from the root's block. A rank assembles
 *    each segment from its own block and its children's streams, which are cut at the same places,
 *    and sends it to its parent: inner ranks hold a window of segments, not a subtree.
 *
 * A block crosses no uplink more than once in each direction, but it may also cross the uplinks of
 * the racks on its way to the root.
 *
 * Cost: ceil(log2 p) (a + s B) + ((p - 1) m - s) B for segments of s bytes, each of which takes a +
 * s B.
 * Source: the minimum spanning tree of Zhang and Qiu, eq. 1, in the other direction.
 */
#include "config.h"

#include "lib/gather/gather.h"
#include "lib/pattern/binomial.h"
#include "lib/plan/plan.h"

/* A range of bytes of the root's stream, which begins with the root's own block. */
typedef struct range {
    size_t from, to;
} range;

static range intersect(range a, range b) {
    range both = {a.from > b.from ? a.from : b.from, coll_least(a.to, b.to)};
    if (both.to < both.from)
        both.to = both.from;
    return both;
}

/* Round I handles segment FIRST + I of the root's stream. */
typedef struct tree_plan {
    coll_plan base;
    uint64_t first;
    range subtree;                   /* the blocks of this rank and its descendants */
    int parent, children, child[31]; /* positions; a parent of -1: this is the root */
} tree_plan;

/*
 * Writes the steps that send ALL, this subtree's part of the segment that begins at START, to the
 * parent. OWN is the part of ALL that is in this rank's own block.
 */
static int send_to_parent(const tree_plan *plan, range all, range own, size_t start,
                          coll_step steps[]) {
    int parent = plan->base.args->line->order[plan->parent];
    size_t from = own.from - plan->subtree.from, length = own.to - own.from;
    if (length == all.to - all.from) {
        steps[0] = coll_step_send(parent, from, length);
        return 1;
    }
    int count = 0;
    if (length > 0) {
        steps[count] = coll_step_copy(COLL_DATA, from, length, true);
        steps[count++].at = own.from - start;
    }
    steps[count] = coll_step_send(parent, 0, all.to - all.from);
    steps[count].buffer = COLL_SCRATCH;
    steps[count].after_earlier = true;
    steps[count].at = all.from - start;
    return count + 1;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const tree_plan *plan = (const tree_plan *)base;
    const coll_plan_args *args = base->args;
    size_t segment = args->values->at[COLL_SEGMENT], bytes = args->shape->bytes,
           start = (size_t)(plan->first + round) * segment, end = plan->subtree.to;
    range all = intersect(plan->subtree, (range){start, start + segment});
    int count = 0;
    for (int c = 0; c < plan->children; c++) {
        size_t begin = (size_t)plan->child[c] * bytes;
        range here = intersect((range){begin, end}, all);
        end = begin;
        if (here.from == here.to)
            continue;
        coll_step *step = &steps[count++];
        *step = coll_step_receive(args->line->order[plan->child[c]], here.from % bytes,
                                  here.to - here.from);
        step->block = (int)(here.from / bytes);
        step->buffer = plan->parent >= 0 ? COLL_SCRATCH : COLL_DATA;
        step->at = here.from - start;
    }
    range own = intersect((range){plan->subtree.from, end}, all);
    return plan->parent < 0 ? count : count + send_to_parent(plan, all, own, start, steps + count);
}

/* The root has the most segments and the most children. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    size_t all = (size_t)args->shape->topo->ranks * args->shape->bytes,
           segment = args->values->at[COLL_SEGMENT];
    return (coll_plan_size){
        .window = (int)coll_least(args->values->at[COLL_WINDOW], coll_segment_count(all, segment)),
        .steps = coll_tree_depth(args->shape->topo->ranks) + 2,
        .segments = 1,
        .segment = coll_least(segment, all),
        .own_bytes = sizeof(tree_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    int ranks = args->shape->topo->ranks, position = args->line->position;
    size_t bytes = args->shape->bytes, segment = args->values->at[COLL_SEGMENT],
           start = (size_t)position * bytes,
           end = (size_t)coll_tree_binomial_end(ranks, position) * bytes;
    tree_plan *plan = memory;
    *plan = (tree_plan){.base = coll_plan_of(args, size, 0, plan_round),
                        .first = start / segment,
                        .subtree = {start, end}};
    plan->base.rounds = coll_segment_count(end, segment) - plan->first;
    plan->children = coll_tree_binomial(ranks, position, &plan->parent, plan->child);
    return &plan->base;
}

const coll_algorithm coll_gather_binomial = {
    .name = "binomial",
    .summary = "segments stream up a binomial tree in rack order",
    .params = {COLL_PARAM_SEGMENT(COLL_MESSAGE_BYTES, 32 << 10),
               COLL_PARAM_WINDOW("segments that a rank holds", 8)},
    .applicable = coll_gather_is_even,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
