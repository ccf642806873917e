/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * multi_leader: all ranks of a node exchange with other nodes at the same time; for small data and
 * many ranks per node.
 *
 * 1. The ranks of each node sum up by recursive doubling, so that all of them have the node's sum.
 * 2. In each round groups of k nodes (k is the radix) exchange their sums: every node receives the
 *    k - 1 other sums, and its ranks divide the messages among themselves. With P ranks on each
 *    node and a radix of P + 1 a rank sends and receives one message in a round.
 * 3. The ranks of a node pass the received sums on to each other, and each adds up the k sums, in
 *    the order of the line.
 *
 * lib/plan/multi_leader.h defines the groups. All ranks combine by the same tree, in the order of
 * the line. If operands must be combined in order, a run of ranks on one node counts as a node.
 *
 * Steps: log_k N between N nodes; ceil(log2 P) inside a node before the first of these, and again
 * after each. Bytes: k - 1 sums in a round to every node and from it, or up to twice as many from
 * it if groups differ in size. In rounds between racks the sums of all the rack's nodes cross its
 * uplink. With a radix of 2 the fewest sums cross, as many as with two_level. Memory: all sums that
 * a rank receives, from other nodes and from its own.
 * Source: Bienz, Olson, Gropp: Node-aware improvements to allreduce, ExaMPI 2019; for one rank on
 * each node, Ruefenacht, Bull, Booth: Generalisation of recursive doubling for AllReduce, 2017.
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/plan/multi_leader.h"

#include <limits.h>

enum { RADIX = COLL_WINDOW + 1 };
enum { NONE = -1 };

/* A round being written. Its memory is for packing the data, then for each sum received. */
typedef struct draft {
    coll_step *steps;
    int count;
    int changed; /* index of the last step that changed the data; NONE: none yet */
    coll_range what;
    size_t at; /* offset in the round's memory of the sums that are received next */
} draft;

/*
 * Returns the bytes of the data that are forwarded at a time with RADIX: the user's segment, unless
 * a message of all other sums of a round could then be longer than an int counts.
 */
static size_t piece_of(const coll_plan_args *args, int radix) {
    return coll_least(coll_segment_given(args),
                      coll_segment_of(args->shape, INT_MAX / (size_t)(radix - 1)));
}

/* --- Rounds --- */

static coll_step *add_step(draft *d, coll_step step) {
    d->steps[d->count] = step;
    return &d->steps[d->count++];
}

/* Adds a message of several sums in scratch memory. NUMBERS are the indices of these sums, counted
 * from offset d->at. */
static coll_step *add_message(draft *d, coll_step_kind kind, int peer, coll_run numbers) {
    coll_step *message =
        add_step(d, coll_step_message(kind, peer, 0, (size_t)numbers.count * d->what.length));
    message->buffer = COLL_SCRATCH;
    message->at = d->at + (size_t)numbers.first * d->what.length;
    return message;
}

/*
 * Adds COMBINATION, with the sum NUMBER. The combination at index FIRST depends on all steps so
 * far, because they read the data that it changes; each further combination depends on the one
 * before it.
 */
static void add_sum(draft *d, coll_step combination, int number, int first) {
    coll_step *sum = add_step(d, combination);
    sum->at = d->at + (size_t)number * d->what.length;
    sum->after_earlier = d->count - 1 == first;
    if (!sum->after_earlier)
        coll_step_after(sum, 0, d->count - 2);
}

/* Combines the data with COUNT sums. The last BEFORE of these sums are operands in front of the
 * data, the others are operands behind it. */
static void combine(draft *d, int before, int count) {
    const size_t from = d->what.from, length = d->what.length;
    const int first = d->count, behind = count - before;
    for (int i = behind + 1; i < count; i++)
        add_sum(d, coll_step_combine(COLL_SCRATCH, d->at + (size_t)i * length, length, true, true),
                behind, first);
    if (before > 0)
        add_sum(d, coll_step_combine(COLL_DATA, from, length, false, true), behind, first);
    for (int i = 0; i < behind; i++)
        add_sum(d, coll_step_combine(COLL_DATA, from, length, false, false), i, first);
    d->changed = d->count - 1;
    d->at += (size_t)count * length;
}

/* Sends the data to the ranks of TURN, and receives the sum of a run from each source of TURN. */
static void exchange(draft *d, const coll_leaders_turn *turn) {
    for (int i = 0; i < turn->sends; i++)
        coll_step_after(add_step(d, coll_step_send(turn->to[i], d->what.from, d->what.length)), 0,
                        d->changed);
    for (int i = 0; i < turn->receives; i++)
        add_message(d, COLL_STEP_RECEIVE, turn->from[i],
                    (coll_run){coll_cut_number_of_run(&turn->cut, turn->cut.own, turn->run[i]), 1});
}

/* Exchanges the received sums with other ranks of the node. */
static void spread(draft *d, const coll_leaders *leaders, const coll_leaders_turn *turn) {
    for (int i = 0; i < turn->sends; i++)
        add_message(d, COLL_STEP_SEND, turn->to[i],
                    coll_leaders_received(leaders, turn, turn->cut.own))
            ->after_earlier = true;
    for (int i = 0; i < turn->receives; i++)
        add_message(d, COLL_STEP_RECEIVE, turn->from[i],
                    coll_leaders_received(leaders, turn, turn->run[i]));
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_leaders *leaders = &((const coll_leaders_plan *)base)->leaders;
    const int turns = coll_leaders_turns(leaders);
    const size_t piece = piece_of(base->args, leaders->radix);
    draft d = {.steps = steps,
               .changed = NONE,
               .what = coll_segment_at(base->args->shape->bytes, piece, round),
               .at = piece};
    for (int number = 0; number < turns; number++) {
        coll_leaders_turn turn;
        coll_leaders_turn_at(leaders, number, &turn);
        if (turn.kind == COLL_LEADERS_SPREAD)
            spread(&d, leaders, &turn);
        else
            exchange(&d, &turn);
        if (turn.is_last)
            combine(&d, turn.exchange.own, turn.exchange.parts - 1);
    }
    return d.count;
}

/* --- Plans --- */

static coll_plan_size plan_size(const coll_plan_args *args) {
    const coll_leaders_extent all = coll_leaders_measure(args, args->values->at[RADIX]);
    const size_t piece = piece_of(args, all.radix),
                 pieces = coll_segment_count(args->shape->bytes, piece);
    const int sums = all.node_cuts + all.cuts * (all.radix - 1),
              turns = all.node_cuts + all.cuts * (1 + all.node_cuts);
    return (coll_plan_size){.window = (int)coll_least(args->values->at[COLL_WINDOW], pieces),
                            .steps = turns * (all.sends + all.receives) + sums,
                            .segments = 1,
                            .segment = (size_t)(1 + sums) * piece,
                            .own_bytes = sizeof(coll_leaders_plan) + all.bytes};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    coll_leaders_plan *plan = memory;
    plan->leaders = coll_leaders_open(args, args->values->at[RADIX], plan + 1);
    const uint64_t rounds =
        coll_segment_count(args->shape->bytes, piece_of(args, plan->leaders.radix));
    plan->base = coll_plan_of(args, size, rounds, plan_round);
    return &plan->base;
}

const coll_algorithm coll_allreduce_multi_leader = {
    .name = "multi_leader",
    .summary = "all ranks of a node exchange its sum with other nodes at the same time",
    .params = {COLL_PARAM_SEGMENT("most bytes that are forwarded at a time", 32 << 10),
               COLL_PARAM_WINDOW("segments in flight", 2), COLL_PARAM_LEADERS(RADIX)},
    .applicable = coll_leaders_apply,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
