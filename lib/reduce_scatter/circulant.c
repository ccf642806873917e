/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * circulant: partial sums of runs of blocks, in the smallest possible number of rounds; for small
 * data.
 *
 * 1. A rank copies its contributions to all blocks to scratch memory, beginning with its own block
 *    and going around the line of the ranks.
 * 2. The rank divides the run of blocks in two: the first s blocks, half of the run rounded up, and
 *    the other blocks. It sends the other blocks to the rank s places behind it, where they are the
 *    first blocks, and adds the blocks that it receives to its own first blocks. It repeats this
 *    with the first s blocks, until only its own block is left.
 *
 * Long blocks are cut into segments, and each segment goes through all these exchanges by itself.
 * Sums are always added in the same order, so they have the same bits in every run.
 *
 * Steps: ceil(log2 p). Bytes: p - 1 blocks from every rank and to it; over a rack's uplink up to as
 * many for each of the rack's ranks. Memory: for each round of the window, two segments of every
 * block: one for sums, one for blocks that arrive.
 * Source: Traeff: Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, arXiv 2410.14234.
 */
#include "config.h"

#include "lib/pattern/binomial.h"
#include "lib/plan/tuned.h"
#include "lib/reduce_scatter/reduce_scatter.h"

/* Round I handles segment I of each block. */
typedef struct graph_plan {
    coll_plan base;
    size_t segment; /* bytes of a block's segment */
    /* offsets in scratch memory of the blocks' segments, beginning with this rank's own block */
    size_t *at;
} graph_plan;

enum { SUMS, ARRIVALS }; /* segments of scratch memory */

static size_t segment_of(const coll_plan_args *args) {
    size_t each = args->values->at[COLL_SEGMENT] / (size_t)args->shape->topo->ranks;
    return coll_least(coll_segment_of(args->shape, each), coll_blocks_longest(args->input));
}

/* Returns whether all blocks have equal length and are not cut into segments. */
static bool is_whole(const coll_plan_args *args, size_t segment) {
    return coll_blocks_even(args->input) && segment == args->shape->bytes;
}

/* Returns the position of the block K places behind this rank's own. */
static int block_at(const graph_plan *plan, int k) {
    return (plan->base.args->line->position + k) % plan->base.args->shape->topo->ranks;
}

static void place_blocks(const graph_plan *plan, uint64_t i) {
    size_t from = (size_t)i * plan->segment;
    plan->at[0] = 0;
    for (int k = 0; k < plan->base.args->shape->topo->ranks; k++) {
        size_t bytes =
            coll_plan_args_block(plan->base.args, plan->base.args->input, block_at(plan, k));
        plan->at[k + 1] =
            plan->at[k] + (from < bytes ? coll_segment_length(bytes, plan->segment, i) : 0);
    }
}

/*
 * Writes the copies of this rank's contributions to scratch memory: block by block, or in up to two
 * runs of blocks if is_whole.
 */
static int copy_shares(const graph_plan *plan, uint64_t i, coll_step steps[]) {
    int p = plan->base.args->shape->topo->ranks, count = 0;
    bool whole = is_whole(plan->base.args, plan->segment);
    for (int k = 0, next; k < p; k = next) {
        int block = block_at(plan, k);
        next = !whole ? k + 1 : k == 0 ? p - block : p;
        if (plan->at[next] == plan->at[k])
            continue;
        coll_step *step = &steps[count];
        *step = coll_step_copy(COLL_INPUT, (size_t)i * plan->segment, plan->at[next] - plan->at[k],
                               true);
        step->block = block;
        step->segment = SUMS;
        step->at = plan->at[k];
        coll_step_after(step, 0, count - 1);
        count++;
    }
    return count;
}

/*
 * Writes the steps that send blocks HALF to END - 1 and add the received blocks to as many of this
 * rank's first blocks. Returns the new count of steps; *SUMMED becomes the step that completes the
 * sums.
 */
static int halve_run(const graph_plan *plan, int half, int end, size_t arrivals, int count,
                     int *summed, coll_step steps[]) {
    const int *order = plan->base.args->line->order;
    int p = plan->base.args->shape->topo->ranks;
    size_t out = plan->at[end] - plan->at[half], in = plan->at[end - half];
    if (out) {
        coll_step *send = &steps[count++];
        *send = coll_step_send(order[block_at(plan, half)], 0, out);
        send->buffer = COLL_SCRATCH;
        send->segment = SUMS;
        send->at = plan->at[half];
        coll_step_after(send, 0, *summed);
    }
    if (!in)
        return count;
    coll_step *receive = &steps[count++], *sum = &steps[count++];
    *receive = coll_step_receive(order[block_at(plan, p - half)], 0, in);
    receive->buffer = COLL_SCRATCH;
    *sum = coll_step_combine(COLL_SCRATCH, 0, in, false, true);
    sum->block = SUMS;
    receive->segment = sum->segment = ARRIVALS;
    receive->at = sum->at = arrivals;
    coll_step_after(sum, 0, count - 2);
    coll_step_after(sum, 0, *summed);
    *summed = count - 1;
    return count;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const graph_plan *plan = (const graph_plan *)base;
    place_blocks(plan, round);
    int count = copy_shares(plan, round, steps), summed = count - 1;
    size_t arrivals = 0;
    for (int end = plan->base.args->shape->topo->ranks, half; end > 1; end = half) {
        half = (end + 1) / 2;
        count = halve_run(plan, half, end, arrivals, count, &summed, steps);
        arrivals += plan->at[end - half];
    }
    if (plan->at[1] > 0) {
        coll_step *last = &steps[count++];
        *last = coll_step_copy(COLL_DATA, (size_t)round * plan->segment, plan->at[1], false);
        last->segment = SUMS;
        coll_step_after(last, 0, summed);
    }
    return count;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    int p = args->shape->topo->ranks;
    size_t segment = segment_of(args);
    uint64_t rounds = coll_segment_count(coll_blocks_longest(args->input), segment);
    size_t all = (size_t)p * segment,
           window = coll_window_asked(args, all, coll_tree_depth(p), 2 * all);
    return (coll_plan_size){.window = (int)coll_least(window, rounds),
                            .steps = (is_whole(args, segment) ? 2 : p) + 3 * coll_tree_depth(p) + 1,
                            .segments = 2,
                            .segment = all,
                            .own_bytes = sizeof(graph_plan) + ((size_t)p + 1) * sizeof(size_t)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    graph_plan *plan = memory;
    size_t segment = segment_of(args);
    *plan = (graph_plan){
        .base = coll_plan_of(
            args, size, coll_segment_count(coll_blocks_longest(args->input), segment), plan_round),
        .segment = segment,
        .at = (size_t *)(plan + 1)};
    return &plan->base;
}

const coll_algorithm coll_reduce_scatter_circulant = {
    .name = "circulant",
    .summary = "sums of runs of blocks over a circulant graph, in the fewest possible rounds",
    .params = {COLL_PARAM_SEGMENT(
                   "most bytes, of all blocks together, that are forwarded at a time", 64 << 10),
               COLL_PARAM_WINDOW("segments in flight; 0: by the cost model", 0)},
    .applicable = coll_order_is_free,
    .passes = COLL_PASSES_EACH_ROUND,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
