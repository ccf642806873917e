/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairwise: every rank receives each other rank's contribution to its block directly, and adds up
 * the contributions in the order of the line; for operations that don't commute.
 *
 * 1. In turn s a rank exchanges with the ranks s places before and behind it, if they exist: it
 *    receives two contributions to its own block, and sends its contributions to their blocks.
 * 2. The rank adds both contributions to the sum of its nearer neighbours' contributions, one at
 *    either end, so operands are always combined in the order of the line. Blocks move in segments.
 *
 * Steps: p - 1 turns. Bytes: p - 1 blocks from every rank and to it; over a rack's uplink all
 * blocks that the rack's ranks exchange with other racks. Memory: four segments for each round of
 * the window.
 * Source: the pairwise exchange of Thakur, Rabenseifner, Gropp: Optimization of Collective
 * Communication Operations in MPICH, IJHPCA 2005, for operations that don't commute.
 */
#include "config.h"

#include "lib/plan/plan.h"
#include "lib/reduce_scatter/reduce_scatter.h"

typedef struct pair_plan {
    coll_plan base;
    uint64_t segments; /* segments of the longest block, which is the number of rounds of a turn */
} pair_plan;

/* Sets STEP's range to segment I of the block at POSITION; returns false if there is none. */
static bool set_segment(const pair_plan *plan, int position, uint64_t i, coll_step *step) {
    size_t bytes = coll_plan_args_block(plan->base.args, plan->base.args->input, position),
           segment = plan->base.size.segment;
    step->from = (size_t)i * segment;
    step->length = step->from < bytes ? coll_segment_length(bytes, segment, i) : 0;
    return step->length;
}

/*
 * Sets PEERS to the positions with which this rank exchanges in TURN, before and behind it; returns
 * their number.
 */
static int peers_in(const pair_plan *plan, int turn, int peers[]) {
    int p = plan->base.args->shape->topo->ranks, position = plan->base.args->line->position,
        count = 0;
    if (position - turn >= 0)
        peers[count++] = position - turn;
    if (position + turn < p)
        peers[count++] = position + turn;
    return count;
}

/* Returns the turn of ROUND; the first turn is 1. */
static int turn_of(const pair_plan *plan, uint64_t round) {
    return (int)(round / plan->segments) + 1;
}

/*
 * Returns the index of the step that completes a turn's sum: receives come before it, sends after
 * it.
 */
static int last_sum(const pair_plan *plan, int turn) {
    int peers[2];
    return 2 * peers_in(plan, turn, peers) - (turn > 1);
}

/*
 * Writes the sums of the first turn, which begin with this rank's own contribution and end with a
 * copy to the data.
 */
static int add_first(const coll_step *own, int position, const int peers[], int count,
                     coll_step steps[]) {
    for (int k = 0; k < count; k++) {
        coll_step *sum = &steps[count + k];
        *sum = k > 0 ? coll_step_combine(COLL_SCRATCH, 0, own->length, false, peers[k] < position)
                     : coll_step_combine(COLL_INPUT, own->from, own->length, true,
                                         peers[k] < position);
        sum->block = k > 0 ? 0 : position;
    }
    steps[2 * count] = coll_step_copy(COLL_DATA, own->from, own->length, false);
    coll_step_after(&steps[2 * count], 0, 2 * count - 1);
    return 2 * count + 1;
}

/*
 * Writes the receives from COUNT peers, each with its combination. The first combination depends on
 * the last one of the turn before.
 */
static int add_contributions(const pair_plan *plan, uint64_t round, const int peers[], int count,
                             coll_step steps[]) {
    const coll_rank_order *line = plan->base.args->line;
    int turn = turn_of(plan, round), all = 2 * count;
    coll_step own;
    if (!set_segment(plan, line->position, round % plan->segments, &own))
        return 0;
    for (int k = 0; k < count; k++) {
        steps[k] = coll_step_receive(line->order[peers[k]], 0, own.length);
        steps[k].buffer = COLL_SCRATCH;
        steps[k].segment = k;
        steps[count + k] =
            coll_step_combine(COLL_DATA, own.from, own.length, false, peers[k] < line->position);
    }
    if (turn == 1)
        all = add_first(&own, line->position, peers, count, steps);
    for (int k = 0; k < count; k++) {
        coll_step *sum = &steps[count + k];
        sum->segment = k;
        coll_step_after(sum, 0, k);
        if (k > 0)
            coll_step_after(sum, 0, count + k - 1);
        else if (turn > 1 && plan->segments < (uint64_t)plan->base.size.window)
            coll_step_after(sum, (int)plan->segments, last_sum(plan, turn - 1));
    }
    return all;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const pair_plan *plan = (const pair_plan *)base;
    int peers[2];
    uint64_t i = round % plan->segments;
    int sides = peers_in(plan, turn_of(plan, round), peers),
        count = add_contributions(plan, round, peers, sides, steps);
    for (int k = 0; k < sides; k++) {
        coll_step share;
        if (!set_segment(plan, peers[k], i, &share))
            continue;
        coll_step *step = &steps[count++];
        *step = coll_step_send(plan->base.args->line->order[peers[k]], share.from, share.length);
        step->buffer = COLL_INPUT;
        step->block = peers[k];
        step->segment = 2 + k;
    }
    return count;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    size_t longest = coll_blocks_longest(args->input),
           segment = coll_segment_of(args->shape, args->values->at[COLL_SEGMENT]);
    return (coll_plan_size){.window = (int)args->values->at[COLL_WINDOW],
                            .steps = 7,
                            .segments = 4,
                            .segment = coll_least(segment, longest),
                            .own_bytes = sizeof(pair_plan)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    pair_plan *plan = memory;
    *plan =
        (pair_plan){.base = coll_plan_of(args, size, 0, plan_round),
                    .segments = coll_segment_count(coll_blocks_longest(args->input), size.segment)};
    plan->base.rounds = ((uint64_t)args->shape->topo->ranks - 1) * plan->segments;
    return &plan->base;
}

const coll_algorithm coll_reduce_scatter_pairwise = {
    .name = "pairwise",
    .summary = "every rank receives its block from each other rank and adds them up in order",
    .params = {COLL_PARAM_SEGMENT(COLL_MESSAGE_BYTES, 32 << 10),
               COLL_PARAM_WINDOW("segments in flight", 8)},
    .reproducible = true,
    .passes = COLL_PASSES_EACH_RANK,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
