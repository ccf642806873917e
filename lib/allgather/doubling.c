/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bruck and sparbit: the blocks that a rank has grow by the factor r, the radix, in each of
 * ceil(log_r p) rounds.
 *
 * Blocks are counted from a rank's own block to the end of the line, and then from the start of the
 * line. In a round of distance d, a power of r, a rank sends its blocks to the ranks d, 2 d, ...,
 * (r - 1) d places before it, and receives the blocks of the ranks d, 2 d, ..., (r - 1) d places
 * behind it. Blocks p or more places behind the receiver are not sent, since the receiver has them
 * already. So a round has r - 1 messages from every rank and to it. A larger radix takes fewer
 * rounds with more messages and the same number of bytes; by default the cost model chooses it.
 *
 * - bruck: the distances rise from 1. A rank has the blocks next to its own, so it sends them in
 *   one piece, or two; but the longest messages go farthest.
 * - sparbit: the distances fall to 1. The single block of the first round goes farthest, and most
 *   bytes go from a rank to its neighbours, mostly in one rack: with radix 2, about half of bruck's
 *   bytes cross an uplink.
 *
 * Bytes: every rank sends and receives M - m, where a block has m bytes and all blocks have M. In a
 * round, an uplink carries each block up to r - 1 times with sparbit, and up to r - 1 times for
 * each of the rack's ranks with bruck. Memory: r messages of about M / r, which is why long calls
 * use other algorithms.
 * Sources: Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications
 * in multiport message-passing systems, 1997. Loch, Koslovski: Sparbit: a new logarithmic-cost and
 * data locality-aware MPI Allgather algorithm.
 */
#include "config.h"

#include "lib/allgather/allgather.h"
#include "lib/pattern/radix.h"
#include "lib/plan/tuned.h"

/* Upper limit of all blocks together, in bytes. */
static const size_t BYTES_MOST = 4 << 20;

/* The parameters of an allgather on this rank. */
typedef struct growth {
    const coll_plan_args *args;
    int radix;
    bool near_first;
} growth;

typedef struct growth_plan {
    coll_plan base;
    growth by;
} growth_plan;

static growth growth_of(const coll_plan_args *args, bool near_first) {
    return (growth){.args = args, .radix = coll_radix_asked(args), .near_first = near_first};
}

/*
 * The blocks of a message: COUNT blocks, the first one FROM places from this rank's own, each
 * STRIDE places after the one before.
 */
typedef struct set {
    int from, stride, count;
} set;

/*
 * Returns the blocks that a rank sends, in the round of DISTANCE, to the rank TIMES * DISTANCE
 * places before it. Places are counted from the sender's own block.
 */
static set set_for(const growth *by, int distance, int times) {
    int wanted =
        by->args->shape->topo->ranks - times * distance; /* blocks that the receiver may lack */
    if (by->near_first)
        return (set){.stride = 1, .count = distance < wanted ? distance : wanted};
    int stride = by->radix * distance;
    return (set){.stride = stride, .count = (wanted - 1) / stride + 1};
}

static size_t bytes_of(const coll_plan_args *args, set all) {
    int ranks = args->shape->topo->ranks, own = args->line->position;
    size_t bytes = 0;
    for (int i = 0; i < all.count; i++)
        bytes +=
            coll_plan_args_block(args, args->blocks, (own + all.from + i * all.stride) % ranks);
    return bytes;
}

/*
 * Writes the copies of the blocks ALL to SEGMENT of scratch memory if TO_SCRATCH, else from there.
 * Returns the number of steps: one step copies adjacent blocks of equal length.
 */
static int copy_set(const coll_plan_args *args, set all, bool to_scratch, int segment,
                    coll_step steps[]) {
    int ranks = args->shape->topo->ranks, own = args->line->position, count = 0;
    bool merges = all.stride == 1 && coll_blocks_even(args->blocks);
    size_t at = 0;
    for (int i = 0; i < all.count; i++) {
        int position = (own + all.from + i * all.stride) % ranks;
        size_t bytes = coll_plan_args_block(args, args->blocks, position);
        if (bytes == 0)
            continue;
        if (merges && i > 0 && position > 0) {
            steps[count - 1].length += bytes;
        } else {
            steps[count] = coll_step_copy(COLL_DATA, 0, bytes, to_scratch);
            steps[count].block = position;
            steps[count].at = at;
            steps[count++].segment = segment;
        }
        at += bytes;
    }
    return count;
}

/* Writes a round. The messages to farther ranks are prefixes of the message to the nearest one. */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const growth *by = &((const growth_plan *)base)->by;
    const coll_plan_args *args = base->args;
    int ranks = args->shape->topo->ranks, own = args->line->position,
        digit = (int)(by->near_first ? round : base->rounds - 1 - round),
        distance = coll_radix_worth(by->radix, digit),
        count = copy_set(args, set_for(by, distance, 1), true, 0, steps), copied = count - 1;
    if (count > 0)
        steps[copied].after_earlier = true;
    for (int times = 1; times < by->radix && times * distance < ranks; times++) {
        size_t length = bytes_of(args, set_for(by, distance, times));
        if (length == 0)
            continue;
        int to = (own - times * distance + ranks) % ranks;
        steps[count] = coll_step_send(args->line->order[to], 0, length);
        steps[count].buffer = COLL_SCRATCH;
        coll_step_after(&steps[count++], 0, copied);
    }
    for (int times = 1; times < by->radix && times * distance < ranks; times++) {
        set all = set_for(by, distance, times);
        all.from = times * distance;
        size_t length = bytes_of(args, all);
        if (length == 0)
            continue;
        int receive = count++;
        steps[receive] = coll_step_receive(args->line->order[(own + all.from) % ranks], 0, length);
        steps[receive].buffer = COLL_SCRATCH;
        steps[receive].segment = times;
        count += copy_set(args, all, false, times, &steps[count]);
        for (int i = receive + 1; i < count; i++)
            coll_step_after(&steps[i], 0, receive);
    }
    return count;
}

/*
 * Returns the most blocks of a message. The longest is the first message of the last round, or of
 * the round before.
 */
static int longest_message(const growth *by) {
    int ranks = by->args->shape->topo->ranks;
    if (!by->near_first)
        return set_for(by, 1, 1).count;
    int last = coll_radix_worth(by->radix, coll_radix_digits(ranks, by->radix) - 1),
        most = set_for(by, last, 1).count;
    return most > last / by->radix ? most : last / by->radix;
}

static coll_plan_size size_of(const coll_plan_args *args, bool near_first) {
    const growth by = growth_of(args, near_first);
    int ranks = args->shape->topo->ranks, others = (by.radix < ranks ? by.radix : ranks) - 1,
        longest = longest_message(&by);
    bool merges = near_first && coll_blocks_even(args->blocks);
    return (coll_plan_size){.window = 1,
                            .steps = merges ? 2 + 4 * others : longest + 2 * others + ranks - 1,
                            .segments = 1 + others,
                            .segment =
                                coll_least(coll_blocks_sum(args->blocks),
                                           (size_t)longest * coll_blocks_longest(args->blocks)),
                            .own_bytes = sizeof(growth_plan)};
}

static coll_plan *plan_of(const coll_plan_args *args, coll_plan_size size, void *memory,
                          bool near_first) {
    growth_plan *plan = memory;
    const growth by = growth_of(args, near_first);
    int rounds = coll_radix_digits(args->shape->topo->ranks, by.radix);
    *plan = (growth_plan){.base = coll_plan_of(args, size, (uint64_t)rounds, plan_round), .by = by};
    return &plan->base;
}

COLL_PLANNER(bruck, size_of, plan_of, true);
COLL_PLANNER(sparbit, size_of, plan_of, false);

static bool is_small(const coll_shape *call) {
    return call->bytes <= BYTES_MOST / (size_t)call->topo->ranks;
}

const coll_algorithm coll_allgather_bruck = {
    .name = "bruck",
    .summary = "each rank's blocks grow by a factor in each round, near ranks first",
    .params = {COLL_PARAM_RADIX("factor by which a rank's blocks grow in a round")},
    .applicable = is_small,
    .passes = COLL_PASSES_EACH_ROUND,
    .planner = &bruck,
};

const coll_algorithm coll_allgather_sparbit = {
    .name = "sparbit",
    .summary = "each rank's blocks grow by a factor in each round, far ranks first",
    .params = {COLL_PARAM_RADIX("factor by which a rank's blocks grow in a round")},
    .applicable = is_small,
    .passes = COLL_PASSES_EACH_ROUND,
    .planner = &sparbit,
};
