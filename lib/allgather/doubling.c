/*
 * bruck and sparbit: what a rank has grows r-fold in each of ceil(log_r p) rounds, r the radix.
 *
 * Blocks count from a rank's own along the line, and around it. In a round of distance d, a power
 * of r, a rank sends to those d, 2 d, ..., (r - 1) d before it, and gets from those as far behind
 * what they have: as many blocks, each so much further on; but none that is a p or more away. So a
 * round is r - 1 messages from every rank and to it. More of them make fewer rounds, and as many
 * bytes; by default the cost model says how many pay.
 *
 * - bruck: the distances rise from 1. A rank has the blocks next to its own, so what it sends is
 *   in one piece, or two; but the longest messages go farthest.
 * - sparbit: they fall to 1. The single block of the first round goes farthest, and most of all
 *   from a rank to its neighbours, mostly in one rack: to radix 2, about half of bruck's bytes over
 *   an uplink.
 *
 * Bytes: M - m from every rank and to it, for blocks of m bytes, M in all; over an uplink, each
 * block up to r - 1 times a round. Memory: r messages of about M / r, which is why long calls don't
 * go this way.
 * Sources: Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications
 * in multiport message-passing systems, 1997. Loch, Koslovski: Sparbit: a new logarithmic-cost and
 * data locality-aware MPI Allgather algorithm.
 */
#include "config.h"

#include "lib/allgather/allgather.h"
#include "lib/pattern/radix.h"
#include "lib/schedule/tuned.h"

/* Bytes of all blocks. */
static const size_t BYTES_MOST = 4 << 20;

/* How a part of a call goes. */
typedef struct growth {
    const coll_part *part;
    int radix;
    bool near_first;
} growth;

typedef struct growth_plan {
    coll_plan base;
    growth by;
} growth_plan;

static growth growth_of(const coll_part *part, bool near_first) {
    return (growth){.part = part, .radix = coll_radix_asked(part), .near_first = near_first};
}

/* The blocks that a message holds: so many, the first FROM so far from a rank's own, and each
 * STRIDE further on. */
typedef struct set {
    int from, stride, count;
} set;

/* What a rank sends in the round of DISTANCE to the one TIMES as far before it, counted from its
 * own block. */
static set set_for(const growth *by, int distance, int times) {
    int wanted =
        by->part->shape->topo->ranks - times * distance; /* those that the other may lack */
    if (by->near_first)
        return (set){.stride = 1, .count = distance < wanted ? distance : wanted};
    int stride = by->radix * distance;
    return (set){.stride = stride, .count = (wanted - 1) / stride + 1};
}

static bool is_even(const coll_part *part) {
    return !part->blocks->layout.counts;
}

static size_t bytes_of(const coll_part *part, set all) {
    int ranks = part->shape->topo->ranks, own = part->line->position;
    size_t bytes = 0;
    for (int i = 0; i < all.count; i++)
        bytes += coll_part_block(part, part->blocks, (own + all.from + i * all.stride) % ranks);
    return bytes;
}

/* Copies SET to scratch memory, or from SEGMENT of it. Returns how many steps those are: even
 * blocks side by side are one. */
static int copy_set(const coll_part *part, set all, bool to_scratch, int segment,
                    coll_step steps[]) {
    int ranks = part->shape->topo->ranks, own = part->line->position, count = 0;
    bool merges = all.stride == 1 && is_even(part);
    size_t at = 0;
    for (int i = 0; i < all.count; i++) {
        int position = (own + all.from + i * all.stride) % ranks;
        size_t bytes = coll_part_block(part, part->blocks, position);
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

/* What goes to the farther ones is the beginning of what goes to the first. */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const growth *by = &((const growth_plan *)base)->by;
    const coll_part *part = base->part;
    int ranks = part->shape->topo->ranks, own = part->line->position,
        digit = (int)(by->near_first ? round : base->rounds - 1 - round),
        distance = coll_radix_worth(by->radix, digit),
        count = copy_set(part, set_for(by, distance, 1), true, 0, steps), copied = count - 1;
    if (count > 0)
        steps[copied].after_earlier = true;
    for (int times = 1; times < by->radix && times * distance < ranks; times++) {
        size_t length = bytes_of(part, set_for(by, distance, times));
        if (length == 0)
            continue;
        int to = (own - times * distance + ranks) % ranks;
        steps[count] = coll_step_send(part->line->order[to], 0, length);
        steps[count].buffer = COLL_SCRATCH;
        coll_step_after(&steps[count++], 0, copied);
    }
    for (int times = 1; times < by->radix && times * distance < ranks; times++) {
        set all = set_for(by, distance, times);
        all.from = times * distance;
        size_t length = bytes_of(part, all);
        if (length == 0)
            continue;
        int receive = count++;
        steps[receive] = coll_step_receive(part->line->order[(own + all.from) % ranks], 0, length);
        steps[receive].buffer = COLL_SCRATCH;
        steps[receive].segment = times;
        count += copy_set(part, all, false, times, &steps[count]);
        for (int i = receive + 1; i < count; i++)
            coll_step_after(&steps[i], 0, receive);
    }
    return count;
}

/* Blocks of a message, at most: of the first one of the last round, or of the one before. */
static int longest_message(const growth *by) {
    int ranks = by->part->shape->topo->ranks;
    if (!by->near_first)
        return set_for(by, 1, 1).count;
    int last = coll_radix_worth(by->radix, coll_radix_digits(ranks, by->radix) - 1),
        most = set_for(by, last, 1).count;
    return most > last / by->radix ? most : last / by->radix;
}

/* Bytes of so many blocks, which may be the longest. */
static size_t bytes_of_longest(const coll_part *part, int blocks) {
    size_t all = 0;
    for (int position = 0; position < part->shape->topo->ranks; position++)
        all += coll_part_block(part, part->blocks, position);
    return coll_least(all, (size_t)blocks * coll_blocks_longest(part->blocks));
}

static coll_plan_size size_of(const coll_part *part, bool near_first) {
    const growth by = growth_of(part, near_first);
    int ranks = part->shape->topo->ranks, others = (by.radix < ranks ? by.radix : ranks) - 1,
        longest = longest_message(&by);
    bool merges = near_first && is_even(part);
    return (coll_plan_size){.window = 1,
                            .steps = merges ? 2 + 4 * others : longest + 2 * others + ranks - 1,
                            .segments = 1 + others,
                            .segment = bytes_of_longest(part, longest),
                            .own_bytes = sizeof(growth_plan)};
}

static coll_plan *plan_of(const coll_part *part, bool near_first, coll_plan_size size,
                          void *memory) {
    growth_plan *plan = memory;
    const growth by = growth_of(part, near_first);
    int rounds = coll_radix_digits(part->shape->topo->ranks, by.radix);
    *plan = (growth_plan){.base = coll_plan_of(part, size, (uint64_t)rounds, plan_round), .by = by};
    return &plan->base;
}

static coll_plan_size bruck_size(const coll_part *part) {
    return size_of(part, true);
}

static coll_plan *bruck_plan(const coll_part *part, coll_plan_size size, void *memory) {
    return plan_of(part, true, size, memory);
}

static coll_plan_size sparbit_size(const coll_part *part) {
    return size_of(part, false);
}

static coll_plan *sparbit_plan(const coll_part *part, coll_plan_size size, void *memory) {
    return plan_of(part, false, size, memory);
}

static bool is_short(const coll_shape *call) {
    return call->bytes <= BYTES_MOST / (size_t)call->topo->ranks;
}

const coll_algorithm coll_allgather_bruck = {
    .name = "bruck",
    .summary = "what each rank has grows by a factor in each round, near ones first",
    .params = {COLL_PARAM_RADIX("what a rank has grows by so much in a round")},
    .applicable = is_short,
    .planner = &(const coll_planner){.size = bruck_size, .plan = bruck_plan},
};

const coll_algorithm coll_allgather_sparbit = {
    .name = "sparbit",
    .summary = "what each rank has grows by a factor in each round, far ones first",
    .params = {COLL_PARAM_RADIX("what a rank has grows by so much in a round")},
    .applicable = is_short,
    .planner = &(const coll_planner){.size = sparbit_size, .plan = sparbit_plan},
};
