/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/reduce/tree.h"

/* Round I handles segment I. */
typedef struct tree_plan {
    coll_plan base;
    coll_kin kin;
    int child[2 * COLL_TREE_CHILDREN];
} tree_plan;

int coll_reduce_up(const coll_kin *kin, coll_range what, coll_step steps[], int count) {
    const int sum = kin->segment;
    for (int c = 0; c < kin->children; c++) {
        coll_step *step = &steps[count++];
        *step = coll_step_receive(kin->child[c], 0, what.length);
        step->buffer = COLL_SCRATCH;
        step->segment = sum + c;
        step->lane = kin->lane;
        step = &steps[count++];
        *step = c > 0
                    ? coll_step_combine(COLL_SCRATCH, 0, what.length, false, c >= kin->behind)
                    : coll_step_combine(COLL_INPUT, what.from, what.length, true, c >= kin->behind);
        step->segment = sum + c;
        step->block = c > 0 ? sum : 0;
        coll_step_after(step, 0, count - 2);
        if (c > 0)
            coll_step_after(step, 0, count - 3);
    }
    coll_step *last = &steps[count++];
    if (kin->parent < 0) {
        *last = coll_step_copy(COLL_DATA, what.from, what.length, false);
    } else {
        *last = coll_step_send(kin->parent, kin->children ? 0 : what.from, what.length);
        last->buffer = kin->children ? COLL_SCRATCH : COLL_INPUT;
        last->lane = kin->lane;
    }
    last->segment = sum;
    if (kin->children)
        coll_step_after(last, 0, count - 2);
    return count;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    coll_range what = coll_segment_at(base->args->shape->bytes, base->size.segment, round);
    return coll_reduce_up(&((const tree_plan *)base)->kin, what, steps, 0);
}

coll_plan_size coll_reduce_tree_size(const coll_plan_args *args, size_t segment, size_t window,
                                     int children) {
    const coll_shape *shape = args->shape;
    int most = shape->ordered ? 2 * children : children;
    return (coll_plan_size){.window =
                                (int)coll_least(window, coll_segment_count(shape->bytes, segment)),
                            .steps = 2 * most + 1,
                            .segments = most,
                            .segment = segment,
                            .own_bytes = sizeof(tree_plan)};
}

/*
 * Adds to PLAN those children of the rank at DISTANCE from the root that are on one side of the
 * root, and sets the rank's parent. This side has P ranks, including the root. The rank at distance
 * d is at position HEAD + SIGN * d.
 */
static void add_side(tree_plan *plan, const int order[], coll_tree *tree, int p, int distance,
                     int head, int sign) {
    int parent, children[COLL_TREE_CHILDREN];
    int count = tree(p, distance, &parent, children);
    for (int i = 0; i < count; i++)
        plan->child[plan->kin.children++] = order[head + sign * children[i]];
    plan->kin.parent = parent < 0 ? -1 : order[head + sign * parent];
}

coll_plan *coll_reduce_tree_plan(const coll_plan_args *args, coll_plan_size size, void *memory,
                                 coll_tree *tree) {
    const coll_shape *shape = args->shape;
    const coll_rank_order *line = args->line;
    int p = shape->topo->ranks, head = shape->ordered ? shape->root : 0,
        distance = line->position - head;
    tree_plan *plan = memory;
    uint64_t rounds = coll_segment_count(shape->bytes, size.segment);
    *plan = (tree_plan){.base = coll_plan_of(args, size, rounds, plan_round),
                        .kin = {.child = plan->child}};
    if (distance >= 0)
        add_side(plan, line->order, tree, p - head, distance, head, 1);
    plan->kin.behind = plan->kin.children;
    if (distance <= 0)
        add_side(plan, line->order, tree, head + 1, -distance, head, -1);
    return &plan->base;
}
