/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usual_halving and usual_butterfly: Open MPI's algorithms, for predicting its time.
 *
 * 1. If the number of ranks is no power of two, the first ranks form pairs. The first of a pair
 *    sends all its data to the second, which acts for both.
 * 2. The p' acting ranks exchange halves of their data and add them up: log2 p' turns. halving
 *    pairs the farthest ranks first, butterfly the nearest.
 * 3. Blocks are sent to their owners: the second of a pair has the first one's block, and after a
 *    butterfly a rank has the block whose number has the rank's bits in reverse order.
 *
 * Messages are not cut. Bytes, for m in all: m (1 - 1 / p') from every rank and to it, and another
 * m between the ranks of each pair.
 * Source: coll_base_reduce_scatter_block.c of Open MPI 4.1.
 */
#include "config.h"

#include "lib/pattern/binomial.h"
#include "lib/plan/plan.h"
#include "lib/reduce_scatter/reduce_scatter.h"

/*
 * Segments of the plan's memory: the sums, each at the offset of its block in the data; the
 * contributions received from the other rank of the pair, and from peers; and memory to pack this
 * rank's own block when another rank sends it.
 */
enum { SUMS, FROM_PAIRED, ARRIVALS, OWN, SEGMENTS };

/* Blocks FIRST to END - 1. */
typedef struct run {
    int first, end;
} run;

typedef struct halving_plan {
    coll_plan base;
    bool near_first;
    int going; /* number of acting ranks, a power of two */
    int pairs;
} halving_plan;

/* A plan being written. */
typedef struct draft {
    const halving_plan *plan;
    coll_step *steps;
    int count;
    int latest;      /* the step that completed the sums */
    size_t arrivals; /* bytes used so far in ARRIVALS */
} draft;

/* Returns the position of the NTH acting rank. */
static int position_of(const halving_plan *plan, int nth) {
    return nth < plan->pairs ? 2 * nth + 1 : nth + plan->pairs;
}

/* Returns the first block of the NTH acting rank. */
static int blocks_before(const halving_plan *plan, int nth) {
    return nth < plan->pairs ? 2 * nth : nth + plan->pairs;
}

/*
 * Returns the acting rank whose blocks the NTH acting rank has in the end. That rank has the NTH
 * acting rank's blocks.
 */
static int mirrored_rank(const halving_plan *plan, int nth) {
    int other = 0;
    if (!plan->near_first)
        return nth;
    for (int bit = 1; bit < plan->going; bit *= 2)
        other = 2 * other + !!(nth & bit);
    return other;
}

static size_t bytes_of(const draft *d, run blocks) {
    return (size_t)(blocks.end - blocks.first) * d->plan->base.args->shape->bytes;
}

static size_t place_of(const draft *d, run blocks) {
    return (size_t)blocks.first * d->plan->base.args->shape->bytes;
}

/* Adds STEP, which depends on EARLIER. */
static void add_step(draft *d, coll_step step, int earlier) {
    coll_step_after(&step, 0, earlier);
    d->steps[d->count++] = step;
}

/* Adds the step that copies the input to segment SUMS. */
static void copy_input(draft *d) {
    const run all = {0, d->plan->base.args->shape->topo->ranks};
    coll_step *step = &d->steps[d->count];
    *step = coll_step_copy(COLL_INPUT, 0, bytes_of(d, all), true);
    step->segment = SUMS;
    d->latest = d->count++;
}

/* Adds the step that sends BLOCKS of the sums to the rank at POSITION. */
static void send_blocks(draft *d, int position, run blocks) {
    coll_step step =
        coll_step_send(d->plan->base.args->line->order[position], 0, bytes_of(d, blocks));
    step.buffer = COLL_SCRATCH;
    step.segment = SUMS;
    step.at = place_of(d, blocks);
    add_step(d, step, d->latest);
}

/*
 * Adds the steps that receive BLOCKS from the rank at POSITION into SEGMENT, at offset AT, and add
 * them to the sums.
 */
static void receive_and_combine(draft *d, int position, run blocks, int segment, size_t at) {
    const size_t length = bytes_of(d, blocks);
    coll_step arrival = coll_step_receive(d->plan->base.args->line->order[position], 0, length),
              sum = coll_step_combine(COLL_SCRATCH, place_of(d, blocks), length, false, true);
    arrival.buffer = COLL_SCRATCH;
    arrival.segment = sum.segment = segment;
    arrival.at = sum.at = at;
    sum.block = SUMS;
    coll_step_pace(&arrival, 0, d->latest);
    d->steps[d->count++] = arrival;
    coll_step_after(&sum, 0, d->latest);
    add_step(d, sum, d->count - 1);
    d->latest = d->count - 1;
}

/* Adds the receive of this rank's own block; the NTH acting rank acts for this rank. */
static void receive_own(draft *d, int nth) {
    const coll_plan_args *args = d->plan->base.args;
    const int from = position_of(d->plan, mirrored_rank(d->plan, nth));
    coll_step step = coll_step_receive(args->line->order[from], 0, args->shape->bytes);
    step.segment = OWN;
    coll_step_pace(&step, 0, d->latest);
    d->steps[d->count++] = step;
}

/* Writes the plan of the first rank of a pair. Returns the number of steps. */
static int plan_inactive(draft *d, int position) {
    const coll_plan_args *args = d->plan->base.args;
    const run all = {0, args->shape->topo->ranks};
    coll_step step = coll_step_send(args->line->order[position + 1], 0, bytes_of(d, all));
    step.buffer = COLL_INPUT;
    d->latest = d->count;
    d->steps[d->count++] = step;
    receive_own(d, position / 2);
    return d->count;
}

/* Adds the exchanges of the NTH acting rank with all its peers. */
static void exchange_halves(draft *d, int nth) {
    const halving_plan *plan = d->plan;
    int first = 0, count = plan->going;
    for (int turn = 1; turn < plan->going; turn *= 2) {
        const int mask = plan->near_first ? turn : plan->going / 2 / turn,
                  middle = first + count / 2;
        const run lower = {blocks_before(plan, first), blocks_before(plan, middle)},
                  upper = {lower.end, blocks_before(plan, first + count)};
        const bool is_upper = nth & mask;
        send_blocks(d, position_of(plan, nth ^ mask), is_upper ? lower : upper);
        receive_and_combine(d, position_of(plan, nth ^ mask), is_upper ? upper : lower, ARRIVALS,
                            d->arrivals);
        d->arrivals += bytes_of(d, is_upper ? upper : lower);
        count /= 2;
        first = is_upper ? middle : first;
    }
}

/* Adds the steps that deliver the sums of the NTH acting rank to their owners. */
static void deliver_blocks(draft *d, int nth) {
    const int own = d->plan->base.args->line->position, whose = mirrored_rank(d->plan, nth);
    for (int block = blocks_before(d->plan, whose); block < blocks_before(d->plan, whose + 1);
         block++) {
        const run one = {block, block + 1};
        coll_step result = coll_step_copy(COLL_DATA, 0, bytes_of(d, one), false);
        result.segment = SUMS;
        result.at = place_of(d, one);
        if (block == own)
            add_step(d, result, d->latest);
        else
            send_blocks(d, block, one);
    }
    if (whose != nth)
        receive_own(d, nth);
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const halving_plan *plan = (const halving_plan *)base;
    const int position = base->args->line->position, ranks = base->args->shape->topo->ranks;
    const bool paired = position < 2 * plan->pairs;
    const int nth = paired ? position / 2 : position - plan->pairs;
    draft d = {.plan = plan, .steps = steps};
    (void)round; /* there is only one round */
    if (paired && position % 2 == 0)
        return plan_inactive(&d, position);
    copy_input(&d);
    if (paired)
        receive_and_combine(&d, position - 1, (run){0, ranks}, FROM_PAIRED, 0);
    exchange_halves(&d, nth);
    deliver_blocks(&d, nth);
    return d.count;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    const int ranks = args->shape->topo->ranks;
    return (coll_plan_size){.window = 1,
                            .steps = 3 * coll_tree_depth(ranks) + 6,
                            .segments = SEGMENTS,
                            .segment = 2 * (size_t)ranks * args->shape->bytes,
                            .own_bytes = sizeof(halving_plan)};
}

static coll_plan *plan_of(const coll_plan_args *args, coll_plan_size size, bool near_first,
                          void *memory) {
    halving_plan *plan = memory;
    const int ranks = args->shape->topo->ranks;
    *plan = (halving_plan){.base = coll_plan_of(args, size, 1, plan_round),
                           .near_first = near_first,
                           .going = 1 << coll_tree_doublings(ranks)};
    plan->pairs = ranks - plan->going;
    return &plan->base;
}

static coll_plan *plan_halving(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return plan_of(args, size, false, memory);
}

static coll_plan *plan_butterfly(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return plan_of(args, size, true, memory);
}

const coll_algorithm coll_reduce_scatter_usual_halving = {
    .name = "usual_halving",
    .summary = "ranks exchange halves and add them up, the farthest first",
    .applicable = coll_order_is_free,
    .passes = COLL_PASSES_EACH_ROUND,
    .planner = &(const coll_planner){.size = plan_size, .plan = plan_halving},
};

const coll_algorithm coll_reduce_scatter_usual_butterfly = {
    .name = "usual_butterfly",
    .summary = "ranks exchange halves and add them up, the nearest first",
    .applicable = coll_order_is_free,
    .passes = COLL_PASSES_EACH_ROUND,
    .planner = &(const coll_planner){.size = plan_size, .plan = plan_butterfly},
};
