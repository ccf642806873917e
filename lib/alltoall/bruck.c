/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bruck: in each of ceil(log_r p) rounds, r the radix, a rank sends all of its blocks except about
 * one r-th, in r - 1 messages.
 *
 * A block for the rank o positions further on moves by the digits of o in base r. In the round of
 * distance d, a power of r, a rank sends all blocks whose o has the digit i at that power to the
 * rank i d positions further on. A rank stores a block in transit at the place, in its data, of the
 * block that it will have in the end from the rank o positions before it, so nothing has to be
 * moved afterwards. A larger radix takes fewer rounds and fewer bytes, but more messages; by
 * default the cost model chooses it.
 *
 * Bytes: m p (r - 1) / r from every rank and to it in each round. Over the uplink of a rack of n
 * ranks, n times that in each round of a distance of n or more. Memory: 2 (r - 1) messages of about
 * m p / r.
 * Sources: Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all communications
 * in multiport message-passing systems, 1997. Traeff, Rougier, Hunold: Implementing a classic:
 * zero-copy all-to-all communication with MPI datatypes.
 */
#include "config.h"

#include "lib/alltoall/alltoall.h"
#include "lib/pattern/radix.h"
#include "lib/plan/tuned.h"

/* Upper limit of all blocks of a rank together, in bytes. */
static const size_t BYTES_MOST = 4 << 20;

typedef struct bruck_plan {
    coll_plan base;
    int radix;
} bruck_plan;

/*
 * Returns the copy, to or from scratch memory, of the block that travels FAR positions in all, in
 * the round of DISTANCE. Before its first round the block is in the input.
 */
static coll_step copy_block(const coll_plan_args *args, int far, int distance, bool to_scratch) {
    int ranks = args->shape->topo->ranks, own = args->line->position;
    bool is_new = to_scratch && far % distance == 0;
    coll_step step =
        coll_step_copy(is_new ? COLL_INPUT : COLL_DATA, 0, args->shape->bytes, to_scratch);
    step.block = is_new ? (own + far) % ranks : (own - far + ranks) % ranks;
    return step;
}

/*
 * Writes the copies of all blocks that move TIMES * DISTANCE positions, to or from SEGMENT of
 * scratch memory.
 */
static int copy_message(const bruck_plan *plan, int distance, int times, bool to_scratch,
                        int segment, coll_step steps[]) {
    const coll_plan_args *args = plan->base.args;
    int count = 0;
    for (int far = times * distance; far < args->shape->topo->ranks; far++) {
        if (far / distance % plan->radix != times)
            continue;
        steps[count] = copy_block(args, far, distance, to_scratch);
        steps[count].at = (size_t)count * args->shape->bytes;
        steps[count++].segment = segment;
    }
    return count;
}

/*
 * Writes a round. Scratch memory has a segment for each message: first for the messages sent, then
 * for the messages received.
 */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const bruck_plan *plan = (const bruck_plan *)base;
    const coll_plan_args *args = base->args;
    int ranks = args->shape->topo->ranks, own = args->line->position,
        distance = coll_radix_worth(plan->radix, (int)round), others = 0, count = 0;
    for (int times = 1; times < plan->radix && times * distance < ranks; times++)
        count += copy_message(plan, distance, times, true, others++, &steps[count]);
    int copied = count - 1;
    steps[copied].after_earlier = true;
    for (int times = 1; times <= others; times++) {
        int further = times * distance, receive = count + 1, end;
        end = receive + 1 +
              copy_message(plan, distance, times, false, others + times - 1, &steps[receive + 1]);
        size_t length = (size_t)(end - receive - 1) * args->shape->bytes;
        steps[count] = coll_step_send(args->line->order[(own + further) % ranks], 0, length);
        steps[count].segment = times - 1;
        coll_step_after(&steps[count], 0, copied);
        steps[receive] =
            coll_step_receive(args->line->order[(own - further + ranks) % ranks], 0, length);
        steps[receive].segment = others + times - 1;
        steps[count].buffer = steps[receive].buffer = COLL_SCRATCH;
        for (count = receive + 1; count < end; count++) {
            coll_step_after(&steps[count], 0, copied);
            coll_step_after(&steps[count], 0, receive);
        }
    }
    return count;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    int ranks = args->shape->topo->ranks, radix = coll_radix_asked(args),
        others = (radix < ranks ? radix : ranks) - 1;
    return (coll_plan_size){.window = 1,
                            .steps = 2 * (ranks - 1) + 2 * others,
                            .segments = 2 * others,
                            .segment =
                                (size_t)coll_radix_most_ones(ranks, radix) * args->shape->bytes,
                            .own_bytes = sizeof(bruck_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    bruck_plan *plan = memory;
    int radix = coll_radix_asked(args), rounds = coll_radix_digits(args->shape->topo->ranks, radix);
    *plan = (bruck_plan){.base = coll_plan_of(args, size, (uint64_t)rounds, plan_round),
                         .radix = radix};
    return &plan->base;
}

static bool is_small(const coll_shape *call) {
    return call->bytes <= BYTES_MOST / (size_t)call->topo->ranks;
}

const coll_algorithm coll_alltoall_bruck = {
    .name = "bruck",
    .summary = "few rounds, one for each digit of a block's distance, many blocks in one message",
    .params = {COLL_PARAM_RADIX(
        "base of the digits: a larger one takes fewer rounds and more messages")},
    .applicable = is_small,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
