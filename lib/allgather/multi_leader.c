/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * multi_leader: all ranks of a node exchange blocks with other nodes at the same time; for small
 * blocks and many ranks per node.
 *
 * 1. The ranks of each node exchange their blocks in pairs, twice as far apart each time, so that
 *    all of them have the node's blocks.
 * 2. In each round groups of k runs of nodes (k is the radix) exchange the blocks that they have:
 *    every node receives the blocks of the k - 1 other runs, and its ranks divide the messages
 *    among themselves.
 * 3. The ranks of a node pass the received blocks on to each other.
 *
 * lib/plan/multi_leader.h defines the runs. A message has the blocks of a run, or of a few, and is
 * packed in scratch memory.
 *
 * Steps: log_k N between N nodes of P ranks; ceil(log2 P) inside a node before the first of these,
 * and again after each. Bytes: every block goes once to each node, and inside the node once to each
 * rank; in rounds between racks, every node of a rack receives, over the rack's uplink, all blocks
 * that the rack lacks. Memory: all blocks, which is why long calls use other algorithms.
 * Source: after Bienz, Gautam, Kharel: A locality-aware Bruck allgather, EuroMPI 2022.
 */
#include "config.h"

#include "lib/allgather/allgather.h"
#include "lib/plan/multi_leader.h"

/* Upper limit of all blocks together, in bytes. */
static const size_t BYTES_MOST = 4 << 20;

/* A round being written. Its memory has the blocks that are sent, then the blocks that are
 * received. */
typedef struct draft {
    const coll_plan_args *args;
    coll_step *steps;
    int count;
    size_t at; /* bytes of the memory used so far */
} draft;

enum { PIECES = 2 };

/* The blocks of one message, as runs of positions. The second run is empty unless the message has
 * blocks of nodes both behind and before this node; the nodes behind come first. */
typedef struct pieces {
    coll_run piece[PIECES];
} pieces;

/* Returns the positions of the ranks of COUNT nodes. */
static coll_run positions_of(const coll_leaders *leaders, int node, int count) {
    const int *first = &leaders->first[node];
    return (coll_run){first[0], first[count] - first[0]};
}

/* Returns the positions of the nodes in the COUNT runs of CUT from run I on. */
static coll_run positions_in(const coll_leaders *leaders, const coll_cut *cut, int i, int count) {
    if (count <= 0)
        return (coll_run){0, 0};
    const coll_run from = coll_cut_run(cut, i), last = coll_cut_run(cut, i + count - 1);
    return positions_of(leaders, from.first, last.first + last.count - from.first);
}

/* Returns the blocks that the ranks or nodes in run I of TURN's cut send. */
static pieces pieces_of(const coll_leaders *leaders, const coll_leaders_turn *turn, int i) {
    const coll_run run = coll_cut_run(&turn->cut, i);
    if (turn->kind == COLL_LEADERS_GATHER)
        return (pieces){{{leaders->first[leaders->node] + run.first, run.count}}};
    if (turn->kind == COLL_LEADERS_EXCHANGE)
        return (pieces){{positions_of(leaders, run.first, run.count)}};
    const coll_run numbers = coll_leaders_received(leaders, turn, i);
    const coll_cut *cut = &turn->exchange;
    const int end = numbers.first + numbers.count, behind = cut->parts - 1 - cut->own,
              middle = end < behind             ? end
                       : numbers.first > behind ? numbers.first
                                                : behind;
    return (pieces){
        {positions_in(leaders, cut, cut->own + 1 + numbers.first, middle - numbers.first),
         positions_in(leaders, cut, middle - behind, end - middle)}};
}

/* Adds the copies of the blocks of RUN, to the round's memory if TO_SCRATCH, else from there: one
 * copy if all blocks have the same length. */
static void copy_run(draft *d, coll_run run, bool to_scratch) {
    const int merged = coll_blocks_even(d->args->blocks) ? run.count : 1;
    for (int position = run.first; position < run.first + run.count; position += merged) {
        const size_t bytes =
            (size_t)merged * coll_plan_args_block(d->args, d->args->blocks, position);
        if (bytes == 0)
            continue;
        coll_step *copy = &d->steps[d->count++];
        *copy = coll_step_copy(COLL_DATA, 0, bytes, to_scratch);
        copy->block = position;
        copy->at = d->at;
        d->at += bytes;
    }
}

/* Adds the steps that send WHAT to the ranks of TURN. */
static void send_pieces(draft *d, const coll_leaders_turn *turn, pieces what) {
    for (int i = 0; i < PIECES && turn->sends > 0; i++)
        copy_run(d, what.piece[i], true);
    const int copied = d->count - 1;
    if (copied < 0)
        return;
    d->steps[copied].after_earlier = true;
    for (int i = 0; i < turn->sends; i++) {
        coll_step *send = &d->steps[d->count++];
        *send = coll_step_send(turn->to[i], 0, d->at);
        send->buffer = COLL_SCRATCH;
        coll_step_after(send, 0, copied);
    }
}

/* Adds the steps that receive WHAT from rank FROM. */
static void receive_pieces(draft *d, int from, pieces what) {
    const int number = d->count++;
    const size_t at = d->at;
    for (int i = 0; i < PIECES; i++)
        copy_run(d, what.piece[i], false);
    if (d->at == at) {
        d->count = number;
        return;
    }
    coll_step *receive = &d->steps[number];
    *receive = coll_step_receive(from, 0, d->at - at);
    receive->buffer = COLL_SCRATCH;
    receive->at = at;
    for (int i = number + 1; i < d->count; i++)
        coll_step_after(&d->steps[i], 0, number);
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_leaders *leaders = &((const coll_leaders_plan *)base)->leaders;
    draft d = {.args = base->args, .steps = steps};
    coll_leaders_turn turn;
    coll_leaders_turn_at(leaders, (int)round, &turn);
    send_pieces(&d, &turn, pieces_of(leaders, &turn, turn.cut.own));
    for (int i = 0; i < turn.receives; i++)
        receive_pieces(&d, turn.from[i], pieces_of(leaders, &turn, turn.run[i]));
    return d.count;
}

/* A rank sends or receives each block at most once in a round. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    const int ranks = args->shape->topo->ranks;
    return coll_leaders_plan_size(args, coll_blocks_even(args->blocks) ? PIECES : ranks, ranks,
                                  coll_blocks_sum(args->blocks));
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_leaders_plan_make(args, size, memory, plan_round);
}

static bool is_applicable(const coll_shape *call) {
    return coll_leaders_apply(call) && call->bytes <= BYTES_MOST / (size_t)call->topo->ranks;
}

const coll_algorithm coll_allgather_multi_leader = {
    .name = "multi_leader",
    .summary = "all ranks of a node exchange blocks with other nodes at the same time",
    .params = {COLL_PARAM_LEADERS(COLL_RADIX)},
    .applicable = is_applicable,
    .passes = COLL_PASSES_EACH_ROUND,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
