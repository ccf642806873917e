/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairwise: in each turn every rank sends a block to one other rank and receives a block from
 * another.
 *
 * 1. In every turn each rack's uplink is about equally busy (lib/alltoall/turns.h).
 * 2. Blocks move in segments. A rank requests a block with an empty message once the bytes that it
 *    has requested fit a window: sends complete before their data has arrived, so without requests
 *    the other ranks would run ahead and flood the port of a rank that is late. If all blocks
 *    together fit a port's buffer, they are sent without a request.
 * 3. If sizes differ by rank (MPI_Alltoallv), the plan is that of pairwise_unequal.c.
 *
 * Steps: p - 1 turns. Bytes: (p - 1) m from every rank and to it; n (p - n) m over the uplink of a
 * rack with n ranks, in either direction: each block crosses once. Memory: two segments for each
 * round of the window, and for four more rounds.
 * Source: schedules by distance (turns.h); segments and requests are ours.
 */
#include "config.h"

#include "lib/alltoall/pairwise.h"

#include "lib/alltoall/alltoall.h"
#include "lib/alltoall/turns.h"

enum { REQUESTS = 1 }; /* lane of the requests */

/* Blocks of at most this many bytes in total fit the buffer of any switch port. */
static const size_t UNASKED = 32 << 10;

/*
 * Default segments: shorter segments from different ranks collide less at a port, but a segment
 * must occupy the link at least TIMES as long as the processor.
 */
enum { SEGMENT_LEAST = 4 << 10, SEGMENT_MOST = 32 << 10, TIMES = 8 };

/*
 * WINDOW: segments in flight to a rank, in addition to those that the link transfers during a round
 * trip. AHEAD: rounds in flight in addition to the rounds of the window; so few that the messages
 * of several ranks that share an uplink fit the uplink's buffer. ROUNDS_MOST: upper limit of the
 * rounds in flight.
 */
enum { WINDOW = 2, AHEAD = 4, ROUNDS_MOST = 256 };

typedef struct equal_plan {
    coll_plan base;
    /* most bytes in flight to this rank, unless blocks are sent without a request */
    size_t under_way;
    uint64_t segments; /* of a block */
    int even_racks;    /* number of racks, if all have equal size; else 0 */
    coll_turn turns[]; /* this rank's turns, unless all racks have equal size */
} equal_plan;

/* --- Lengths --- */

size_t coll_pairwise_segment(const coll_plan_args *args) {
    const coll_cost *link = coll_profile_outermost(args->shape->profile, args->shape->topo);
    size_t segment = args->values->at[COLL_SEGMENT];
    if (segment > 0)
        return segment;
    for (segment = SEGMENT_LEAST; segment < SEGMENT_MOST; segment *= 2)
        if (coll_cost_send_gap(link, (double)segment) >=
            TIMES * coll_cost_send_overhead(link, (double)segment))
            break;
    return segment;
}

size_t coll_pairwise_window(const coll_plan_args *args) {
    const coll_cost *link = coll_profile_outermost(args->shape->profile, args->shape->topo);
    const size_t wanted = args->values->at[COLL_WINDOW];
    if (wanted > 0)
        return wanted;
    const double there_and_back = 2 * coll_cost_transfer(link, 0),
                 gap = coll_cost_send_gap(link, (double)coll_pairwise_segment(args));
    return there_and_back < ROUNDS_MOST * gap ? WINDOW + (size_t)(there_and_back / gap)
                                              : ROUNDS_MOST;
}

size_t coll_pairwise_unasked(const coll_plan_args *args) {
    return UNASKED / (size_t)args->shape->topo->ranks;
}

int coll_pairwise_rounds(const coll_plan_args *args) {
    return (int)coll_least(coll_pairwise_window(args) + AHEAD, ROUNDS_MOST);
}

/* --- Messages --- */

static coll_step request_message(int peer, coll_step_kind kind) {
    coll_step step = coll_step_message(kind, peer, 0, 0);
    step.lane = REQUESTS;
    return step;
}

int coll_pairwise_receive(const coll_plan_args *args, const coll_pairwise_part *part,
                          coll_step steps[]) {
    if (part->position == COLL_NOBODY)
        return 0;
    const int peer = args->line->order[part->position];
    steps[0] = coll_step_receive(peer, part->range.from, part->range.length);
    steps[0].block = part->position;
    if (!part->requested)
        return 1;
    steps[1] = request_message(peer, COLL_STEP_SEND);
    return 2;
}

int coll_pairwise_send(const coll_plan_args *args, const coll_pairwise_part *part, int first,
                       coll_step steps[]) {
    if (part->position == COLL_NOBODY)
        return 0;
    const int peer = args->line->order[part->position];
    int count = 0;
    if (part->requested)
        steps[count++] = request_message(peer, COLL_STEP_RECEIVE);
    coll_step *step = &steps[count++];
    *step = coll_step_send(peer, part->range.from, part->range.length);
    step->buffer = COLL_INPUT;
    step->block = part->position;
    step->segment = 1;
    if (part->requested)
        coll_step_pace(step, 0, first);
    return count;
}

/* --- The plan for blocks of equal size --- */

/* Returns the number of racks if all have equal size; else 0. If they have, turns need not be
 * listed: every rank has the same number of turns, one of them with itself. */
static int count_even_racks(const coll_plan_args *args) {
    const coll_topo *topo = args->shape->topo;
    const int places = topo->ranks / topo->racks;
    if (places * topo->racks != topo->ranks)
        return 0;
    for (int i = 1; i < topo->ranks; i++)
        if (coll_plan_args_begins(args, i, COLL_UNIT_RACK) != (i % places == 0))
            return 0;
    return topo->racks;
}

/* Returns the bytes of each block; 0 if tuna has already moved the blocks. */
static size_t block_bytes(const coll_plan_args *args) {
    return coll_plan_args_block(args, args->input, 0);
}

static coll_turn turn_of(const equal_plan *plan, uint64_t round) {
    const coll_plan_args *args = plan->base.args;
    const uint64_t nth = round / plan->segments;
    return plan->even_racks ? coll_turn_of_even_racks(args->shape->topo->ranks, plan->even_racks,
                                                      args->line->position, nth)
                            : plan->turns[nth];
}

/* Returns the range of a block that ROUND moves. */
static coll_range range_of(const equal_plan *plan, uint64_t round) {
    return coll_segment_at(block_bytes(plan->base.args), plan->base.size.segment,
                           round % plan->segments);
}

/*
 * Delays the request of ROUND until all data in flight, including the data of ROUND, fits the
 * window.
 */
static void delay_request(const equal_plan *plan, uint64_t round, coll_step *request) {
    size_t under_way = range_of(plan, round).length;
    for (int back = 1; back < plan->base.size.window && (uint64_t)back <= round; back++) {
        if (turn_of(plan, round - (uint64_t)back).from == COLL_NOBODY)
            continue;
        under_way += range_of(plan, round - (uint64_t)back).length;
        if (under_way > plan->under_way) {
            coll_step_pace(request, back, 0);
            return;
        }
    }
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const equal_plan *plan = (const equal_plan *)base;
    const coll_turn now = turn_of(plan, round);
    coll_pairwise_part part = {.position = now.from, .range = range_of(plan, round)};
    part.requested =
        part.range.from == 0 && block_bytes(base->args) > coll_pairwise_unasked(base->args);
    const int receives = coll_pairwise_receive(base->args, &part, steps);
    if (receives == 2)
        delay_request(plan, round, &steps[1]);
    part.position = now.to;
    return receives + coll_pairwise_send(base->args, &part, receives, &steps[receives]);
}

/* A round receives and sends at most one segment, with one request in each direction. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    if (args->shape->bytes == COLL_BYTES_UNKNOWN)
        return coll_pairwise_unequal_size(args);
    const size_t ranks = (size_t)args->shape->topo->ranks,
                 listed = ranks * (sizeof(coll_turn) + sizeof(coll_seat));
    return (coll_plan_size){.window = coll_pairwise_rounds(args),
                            .steps = 4,
                            .segments = 2,
                            .segment = coll_least(coll_pairwise_segment(args), args->shape->bytes),
                            .own_bytes =
                                sizeof(equal_plan) + (count_even_racks(args) ? 0 : listed)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    if (args->shape->bytes == COLL_BYTES_UNKNOWN)
        return coll_pairwise_unequal_plan(args, size, memory);
    equal_plan *plan = memory;
    const size_t ranks = (size_t)args->shape->topo->ranks;
    *plan = (equal_plan){.base = coll_plan_of(args, size, 0, plan_round)};
    plan->under_way = coll_pairwise_window(args) * coll_pairwise_segment(args);
    plan->segments = coll_segment_count(block_bytes(args), size.segment);
    plan->even_racks = count_even_racks(args);
    const int turns = plan->even_racks
                          ? (int)ranks
                          : coll_turns_find(args, (coll_seat *)(plan->turns + ranks), plan->turns);
    plan->base.rounds = (uint64_t)turns * plan->segments;
    return &plan->base;
}

const coll_algorithm coll_alltoall_pairwise = {
    .name = "pairwise",
    .summary = "each rank exchanges with one after the other, uplinks always equally busy",
    .params = {COLL_PARAM_SEGMENT("most bytes of a block that are sent at a time", 0),
               COLL_PARAM_WINDOW("segments in flight to a rank at a time", 0)},
    .sizeless = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
