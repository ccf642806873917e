/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * racks: few messages between racks; for racks of equal size.
 *
 * 1. Every rank exchanges with the rank at its own place in each other rack: one message holds its
 *    blocks for all ranks of that rack.
 * 2. It then has all blocks for the ranks of its own rack from the ranks at its place, and sends
 *    one message to each rank of its own rack.
 *
 * Between the two steps, each block in transit is stored in the slot of the block that replaces it
 * in step 2. If there is only one rack, or racks differ in size, hosts act as racks.
 *
 * Steps: (R - 1) + (n - 1) messages from every rank instead of p - 1, for R racks of n ranks.
 * Bytes: (p - n) m to other racks and (p - R) m inside; n (p - n) m over each uplink in either
 * direction, in n (R - 1) messages. Memory: two messages of the longer kind for each round of the
 * window; long calls use other algorithms.
 * Source: the factors of p as digits in Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms
 * for all-to-all communications in multiport message-passing systems.
 */
#include "config.h"

#include "lib/alltoall/alltoall.h"
#include "lib/plan/plan.h"

/* Upper limit for the total bytes of a rank's blocks. */
static const size_t BYTES_MOST = 4 << 20;

/* Upper limit of a rank's sends in flight; also of its receives. */
enum { WINDOW = 8 };

typedef struct racks_plan {
    coll_plan base;
    int racks, places; /* number of racks, and ranks of each */
    int rack, place;   /* this rank's rack, and its place there */
} racks_plan;

/*
 * Returns whether racks are used. Hosts are used instead if there is one rack, or if the size of
 * the first rack shows that racks differ. Only is_applicable checks all sizes.
 */
static bool uses_racks(const coll_topo *topo) {
    int first = 0;
    for (int rank = 0; rank < topo->ranks; rank++)
        first += topo->places[rank].rack == 0;
    return topo->racks > 1 && first * topo->racks == topo->ranks;
}

static int racks_of(const coll_topo *topo) {
    return uses_racks(topo) ? topo->racks : topo->nodes;
}

/* Returns a message of COUNT blocks, from POSITION on, to or from the rank at PEER. */
static coll_step block_message(const racks_plan *plan, coll_step_kind kind, int peer, int position,
                               int count) {
    coll_step step = coll_step_message(kind, plan->base.args->line->order[peer], 0,
                                       (size_t)count * plan->base.args->shape->bytes);
    step.buffer = kind == COLL_STEP_SEND ? COLL_INPUT : COLL_DATA;
    step.block = position;
    step.segment = kind != COLL_STEP_SEND;
    return step;
}

/*
 * Writes the exchange of step 1 with the rack FURTHER racks ahead and the rack FURTHER racks back.
 */
static int exchange_with_racks(const racks_plan *plan, int further, coll_step steps[]) {
    int to = (plan->rack + further) % plan->racks * plan->places,
        from = (plan->rack - further + plan->racks) % plan->racks * plan->places;
    steps[0] = block_message(plan, COLL_STEP_RECEIVE, from + plan->place, from, plan->places);
    steps[1] = block_message(plan, COLL_STEP_SEND, to + plan->place, to, plan->places);
    return 2;
}

/*
 * Returns the copy, to or from scratch memory, of the block in the slot of the rank at PLACE of
 * RACK. After step 1 it is a block from RACK to the rank at PLACE of this rack; after step 2 a
 * block from that slot's rank to this rank.
 */
static coll_step copy_block(const racks_plan *plan, int rack, int place, bool to_scratch) {
    bool is_own = to_scratch && rack == plan->rack;
    size_t bytes = plan->base.args->shape->bytes;
    coll_step step = coll_step_copy(is_own ? COLL_INPUT : COLL_DATA, 0, bytes, to_scratch);
    step.block = rack * plan->places + place;
    step.at = (size_t)rack * bytes;
    step.segment = !to_scratch;
    return step;
}

/* Writes the exchange of step 2 with the rank at PLACE of this rack. */
static int exchange_inside(const racks_plan *plan, int place, coll_step steps[]) {
    int racks = plan->racks, peer = plan->rack * plan->places + place;
    coll_step *send = &steps[racks], *receive = send + 1;
    if (place == plan->place)
        return 0;
    *send = block_message(plan, COLL_STEP_SEND, peer, 0, racks);
    *receive = block_message(plan, COLL_STEP_RECEIVE, peer, 0, racks);
    send->buffer = receive->buffer = COLL_SCRATCH;
    send->after_earlier = true;
    for (int rack = 0; rack < racks; rack++) {
        coll_step *kept = &receive[1 + rack];
        steps[rack] = copy_block(plan, rack, place, true);
        *kept = copy_block(plan, rack, place, false);
        coll_step_after(kept, 0, rack);
        coll_step_after(kept, 0, racks + 1);
    }
    return 2 * racks + 2;
}

/*
 * Writes a round. The exchanges of step 2 begin a window of rounds after the exchanges of step 1,
 * so that step 1 is complete; the rounds in between are empty.
 */
static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const racks_plan *plan = (const racks_plan *)base;
    int nth = (int)round, crossings = plan->racks - 1;
    if (nth < crossings)
        return exchange_with_racks(plan, 1 + nth, steps);
    nth -= crossings + base->size.window - 1;
    return nth < 0
               ? 0
               : exchange_inside(plan, (nth - plan->place + plan->places) % plan->places, steps);
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    int racks = racks_of(args->shape->topo), places = args->shape->topo->ranks / racks;
    return (coll_plan_size){.window = WINDOW,
                            .steps = 2 * racks + 2,
                            .segments = 2,
                            .segment =
                                (size_t)(places > racks ? places : racks) * args->shape->bytes,
                            .own_bytes = sizeof(racks_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    racks_plan *plan = memory;
    int racks = racks_of(args->shape->topo), places = args->shape->topo->ranks / racks;
    *plan =
        (racks_plan){.base = coll_plan_of(
                         args, size, (uint64_t)(racks - 1 + size.window - 1 + places), plan_round),
                     .racks = racks,
                     .places = places,
                     .rack = args->line->position / places,
                     .place = args->line->position % places};
    return &plan->base;
}

/* All racks must have equal size, and more than one rank. */
static bool is_applicable(const coll_shape *call) {
    const coll_topo *topo = call->topo;
    coll_level level = uses_racks(topo) ? COLL_LEVEL_RACK : COLL_LEVEL_NODE;
    int most, fewest = coll_topo_fewest(topo, level, &most);
    return call->bytes <= BYTES_MOST / (size_t)topo->ranks && racks_of(topo) > 1 && most > 1 &&
           fewest == most;
}

const coll_algorithm coll_alltoall_racks = {
    .name = "racks",
    .summary = "one message to each rack, whose blocks are then distributed inside",
    .applicable = is_applicable,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
