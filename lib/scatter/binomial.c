/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binomial: blocks go down a binomial tree; the blocks of a subtree travel in one message.
 *
 * Ranks are positions in the chain order from the root, so a subtree is a run of neighbours. A rank
 * receives the blocks of its subtree, its own first, and sends to each child the blocks of the
 * child's subtree.
 *
 * Cost: ceil(log2 p) rounds. Bytes: all blocks but its own from the root, half of them in the first
 * message; into a rack its own blocks and the blocks of the racks below it in the tree. Memory: all
 * blocks, which is why long calls use other algorithms.
 * Source: the minimum spanning tree's scatter in Chan, Heimlich, Purkayastha, van de Geijn:
 * Collective communication: theory, practice, and experience.
 */
#include "config.h"

#include "lib/pattern/binomial.h"
#include "lib/plan/plan.h"
#include "lib/scatter/scatter.h"

/* Upper limit of all blocks together, in bytes. */
static const size_t BYTES_MOST = 64 << 10;

/* A leaf receives its block directly into its data; other ranks receive into scratch memory. */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_plan_args *args = base->args;
    int ranks = args->shape->topo->ranks, own = args->line->position, parent, child[31],
        children = coll_tree_binomial(ranks, own, &parent, child), count = 0;
    size_t bytes = args->shape->bytes;
    (void)round;
    if (parent >= 0) {
        size_t blocks = (size_t)(coll_tree_binomial_end(ranks, own) - own);
        steps[count] = coll_step_receive(args->line->order[parent], 0, blocks * bytes);
        steps[count++].buffer = blocks == 1 ? COLL_DATA : COLL_SCRATCH;
    }
    for (int i = 0; i < children; i++) {
        coll_step *step = &steps[count++];
        int end = coll_tree_binomial_end(ranks, child[i]);
        size_t before = (size_t)(child[i] - own) * bytes;
        *step = coll_step_send(args->line->order[child[i]], 0, (size_t)(end - child[i]) * bytes);
        step->buffer = parent < 0 ? COLL_INPUT : COLL_SCRATCH;
        step->block = parent < 0 ? child[i] : 0;
        step->at = before;
        if (parent >= 0)
            coll_step_after(step, 0, 0);
    }
    if (parent >= 0 && children > 0) {
        steps[count] = coll_step_copy(COLL_DATA, 0, bytes, false);
        coll_step_after(&steps[count++], 0, 0);
    }
    return count;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    int ranks = args->shape->topo->ranks;
    return (coll_plan_size){.window = 1,
                            .steps = coll_tree_depth(ranks) + 2,
                            .segments = 1,
                            .segment = (size_t)ranks * args->shape->bytes,
                            .own_bytes = sizeof(coll_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_plan_make(args, size, memory, 1, plan_round);
}

static bool is_small(const coll_shape *call) {
    return call->bytes <= BYTES_MOST / (size_t)call->topo->ranks;
}

const coll_algorithm coll_scatter_binomial = {
    .name = "binomial",
    .summary = "blocks go down a binomial tree in rack order, a subtree's in one message",
    .applicable = is_small,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
