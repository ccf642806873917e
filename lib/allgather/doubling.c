/*
 * bruck and sparbit: what a rank has doubles in each of ceil(log2 p) rounds.
 *
 * Blocks count from a rank's own along the line, and around it. In a round of distance d, a power
 * of two, a rank sends what it has to the one d before it, and gets from the one d behind as many
 * blocks, each d further on; but none that is a p or more away. All of a round is one message.
 *
 * - bruck: the distances rise from 1. A rank has the blocks next to its own, so what it sends is
 *   in one piece, or two; but the longest messages go farthest.
 * - sparbit: they fall to 1. The single block of the first round goes farthest, and half of all
 *   from a rank to its neighbour, mostly in one rack: about half of bruck's bytes over an uplink.
 *
 * Bytes: M - m from every rank and to it, for blocks of m bytes, M in all; over an uplink, each
 * block up to once a round. Memory: two messages, which is why long calls don't go this way.
 * Sources: Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications
 * in multiport message-passing systems. Loch, Koslovski: Sparbit: a new logarithmic-cost and data
 * locality-aware MPI Allgather algorithm.
 */
#include "config.h"

#include "lib/allgather/allgather.h"
#include "lib/pattern/binomial.h"
#include "lib/schedule/plan.h"

/* Bytes of all blocks. */
static const size_t BYTES_MOST = 4 << 20;

typedef struct doubling_plan {
    coll_plan base;
    bool near_first;
} doubling_plan;

/* The blocks that a message holds: so many, the first FROM so far from the receiver's own, and each
 * STRIDE further on. */
typedef struct set {
    int from, stride, count;
} set;

static bool is_even(const coll_part *part) {
    return !part->blocks->layout.counts;
}

/*
 * Writes copies of SET, whose places count from position START, to scratch memory or from there,
 * and its bytes to LENGTH. Returns how many steps those are: even blocks side by side are one.
 */
static int copy_set(const coll_part *part, int start, set all, bool to_scratch, size_t *length,
                    coll_step steps[]) {
    int ranks = part->shape->topo->ranks, count = 0;
    bool merges = all.stride == 1 && is_even(part);
    *length = 0;
    for (int i = 0; i < all.count; i++) {
        int position = (start + all.from + i * all.stride) % ranks;
        size_t bytes = coll_part_block(part, part->blocks, position);
        if (bytes == 0)
            continue;
        if (merges && i > 0 && position > 0) {
            steps[count - 1].length += bytes;
        } else {
            steps[count] = coll_step_copy(COLL_DATA, 0, bytes, to_scratch);
            steps[count].block = position;
            steps[count].at = *length;
            steps[count++].segment = !to_scratch;
        }
        *length += bytes;
    }
    return count;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const doubling_plan *plan = (const doubling_plan *)base;
    const coll_part *part = plan->base.part;
    int ranks = part->shape->topo->ranks, own = part->line->position, count;
    int distance = 1 << (plan->near_first ? round : base->rounds - 1 - round);
    set all = {.from = 0, .stride = plan->near_first ? 1 : 2 * distance};
    all.count = plan->near_first ? (int)coll_least((size_t)distance, (size_t)(ranks - distance))
                                 : (ranks - distance - 1) / all.stride + 1;
    size_t length;
    count = copy_set(part, own, all, true, &length, steps);
    if (length > 0) {
        steps[count] =
            coll_step_send(part->line->order[(own - distance + ranks) % ranks], 0, length);
        steps[count].buffer = COLL_SCRATCH;
        steps[count++].after_earlier = true;
    }
    all.from = distance;
    int copies = copy_set(part, own, all, false, &length, steps + count + 1);
    if (length == 0)
        return count;
    steps[count] = coll_step_receive(part->line->order[(own + distance) % ranks], 0, length);
    steps[count].buffer = COLL_SCRATCH;
    steps[count].segment = 1;
    for (int i = 1; i <= copies; i++)
        coll_step_after(&steps[count + i], 0, count);
    return count + 1 + copies;
}

/* Bytes of a message at most: half of the blocks, which may be the longer ones. */
static size_t longest_message(const coll_part *part) {
    size_t ranks = (size_t)part->shape->topo->ranks, all = 0;
    for (size_t position = 0; position < ranks; position++)
        all += coll_part_block(part, part->blocks, (int)position);
    return coll_least(all, (ranks + 1) / 2 * coll_blocks_longest(part->blocks));
}

static int copies_of(const coll_part *part, bool near_first) {
    return near_first && is_even(part) ? 2 : (part->shape->topo->ranks + 1) / 2;
}

static coll_plan_size size_of(const coll_part *part, bool near_first) {
    return (coll_plan_size){.window = 1,
                            .steps = 2 * copies_of(part, near_first) + 2,
                            .segments = 2,
                            .segment = longest_message(part),
                            .own_bytes = sizeof(doubling_plan)};
}

static coll_plan *plan_of(const coll_part *part, bool near_first, coll_plan_size size,
                          void *memory) {
    doubling_plan *plan = memory;
    *plan = (doubling_plan){
        .base = coll_plan_of(part, size, (uint64_t)coll_tree_depth(part->shape->topo->ranks),
                             plan_round),
        .near_first = near_first};
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
    .summary = "what each rank has doubles in each round, near ones first",
    .applicable = is_short,
    .planner = &(const coll_planner){.size = bruck_size, .plan = bruck_plan},
};

const coll_algorithm coll_allgather_sparbit = {
    .name = "sparbit",
    .summary = "what each rank has doubles in each round, far ones first",
    .applicable = is_short,
    .planner = &(const coll_planner){.size = sparbit_size, .plan = sparbit_plan},
};
