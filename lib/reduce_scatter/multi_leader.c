/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * multi_leader: all ranks of a node exchange with other nodes at the same time; for small data and
 * many ranks per node.
 *
 * 1. The ranks of a node divide the other nodes among themselves. Every rank sends to each other
 *    rank of its node one message: its contributions to the blocks of the nodes that the receiver
 *    serves, and to the receiver's own block. Each rank adds up the contributions that it receives.
 * 2. Two nodes exchange one message in each direction, which has the sending node's sums for the
 *    blocks of the receiving node; or several, from several ranks, if every node has several ranks
 *    for each other node.
 * 3. Every rank adds up the sums that it has received from other nodes, sends to each other rank of
 *    its node the sum for that rank's block, and adds the sums that it receives to its own block.
 *
 * lib/plan/node_pairs.h says which ranks serve which nodes. A block is combined in an order that
 * depends on its place, but not on when messages arrive.
 *
 * Steps: (N - 1) / P messages to other nodes from every rank, and 2 (P - 1) inside, for N nodes of
 * P ranks. Bytes: P blocks between two nodes; all data inside, once. Memory: all data about three
 * times, which is why long calls use other algorithms.
 * Source: after Bienz, Olson, Gropp: Node-aware improvements to allreduce, ExaMPI 2019.
 */
#include "config.h"

#include "lib/plan/node_pairs.h"
#include "lib/reduce_scatter/reduce_scatter.h"

/* Upper limit of all blocks together, in bytes. */
static const size_t BYTES_MOST = 1 << 20;

typedef struct pairs_plan {
    coll_plan base;
    coll_node_pairs pairs;
    const size_t *start; /* bytes of all blocks before each position; last entry: of all blocks */
} pairs_plan;

/* The only round of the plan, while it is being written. */
typedef struct draft {
    const coll_plan_args *args;
    const coll_node_pairs *pairs;
    const size_t *start;
    coll_step *steps;
    int count;
    size_t at; /* bytes of scratch memory used so far */
} draft;

/* A sum in scratch memory at AT, which is complete after step AFTER (-1: there is no such step). */
typedef struct sum {
    size_t at;
    int after;
} sum;

static coll_step *add_step(draft *d, coll_step step) {
    d->steps[d->count] = step;
    return &d->steps[d->count++];
}

static size_t take(draft *d, size_t bytes) {
    const size_t at = d->at;
    d->at += bytes;
    return at;
}

/* Returns the bytes of the blocks in RUN, which may continue at position 0. */
static size_t bytes_of(const draft *d, coll_run run) {
    const int ranks = d->args->shape->topo->ranks, end = run.first + run.count;
    return end > ranks ? d->start[ranks] - d->start[run.first] + d->start[end - ranks]
                       : d->start[end] - d->start[run.first];
}

/* Adds a message with the BYTES bytes at AT in scratch memory. The message depends on step AFTER,
 * if that is not negative. */
static void add_message(draft *d, coll_step_kind kind, int rank, size_t at, size_t bytes,
                        int after) {
    coll_step *message = add_step(d, coll_step_message(kind, rank, 0, bytes));
    message->buffer = COLL_SCRATCH;
    message->at = at;
    coll_step_after(message, 0, after);
}

/* Adds the combination of BYTES bytes of TOTAL with the bytes at AT, which the latest step has
 * received. */
static void add_to(draft *d, sum *total, size_t at, size_t bytes) {
    const int received = d->count - 1;
    coll_step *combination = add_step(d, coll_step_combine(COLL_SCRATCH, at, bytes, true, true));
    combination->at = total->at;
    coll_step_after(combination, 0, received);
    if (total->after != received)
        coll_step_after(combination, 0, total->after);
    total->after = d->count - 1;
}

/* Adds copies of the input's blocks in RUN to scratch memory, one after the other, and appends them
 * to INTO. Blocks of equal length are copied together. */
static void pack(draft *d, coll_run run, sum *into) {
    const int ranks = d->args->shape->topo->ranks;
    for (int i = 0, count; i < run.count; i += count) {
        const int position = (run.first + i) % ranks, left = run.count - i;
        count = !coll_blocks_even(d->args->input) ? 1
                : position + left > ranks         ? ranks - position
                                                  : left;
        const size_t bytes = bytes_of(d, (coll_run){position, count});
        if (bytes == 0)
            continue;
        coll_step *copy = add_step(d, coll_step_copy(COLL_INPUT, 0, bytes, true));
        copy->block = position;
        copy->at = take(d, bytes);
        coll_step_after(copy, 0, into->after);
        into->after = d->count - 1;
    }
}

/* Packs this rank's contributions for the rank at PLACE of the node: to the blocks that the rank at
 * PLACE forwards, then to its own block. */
static sum pack_for(draft *d, int place) {
    sum packed = {.at = d->at, .after = -1};
    pack(d, coll_node_pairs_forwarded(d->pairs, place), &packed);
    pack(d, (coll_run){coll_node_pairs_position(d->pairs, place), 1}, &packed);
    return packed;
}

/* Returns the sum of the node's contributions to the blocks that this rank forwards and to its own
 * block. */
static sum sum_inside(draft *d) {
    const coll_node_pairs *pairs = d->pairs;
    for (int nth = 1; nth < pairs->ranks; nth++) {
        const int place = coll_node_pairs_beside(pairs, nth);
        const sum packed = pack_for(d, place);
        if (packed.after >= 0)
            add_message(d, COLL_STEP_SEND, pairs->order[coll_node_pairs_position(d->pairs, place)],
                        packed.at, d->at - packed.at, packed.after);
    }
    sum total = pack_for(d, pairs->place);
    const size_t bytes = d->at - total.at;
    for (int nth = 1; nth < pairs->ranks && bytes > 0; nth++) {
        const int place = coll_node_pairs_beside(pairs, -nth);
        const size_t at = take(d, bytes);
        add_message(d, COLL_STEP_RECEIVE, pairs->order[coll_node_pairs_position(d->pairs, place)],
                    at, bytes, -1);
        add_to(d, &total, at, bytes);
    }
    return total;
}

/* Sends the parts of NODE, the node's sum, to the nodes that this rank serves. Adds up the sums
 * that these nodes send for blocks of this node, and returns the total. Sets *WHOSE to the
 * positions whose blocks the total has. */
static sum exchange(draft *d, sum node, coll_run *whose) {
    const coll_node_pairs *pairs = d->pairs;
    const coll_run numbers = coll_node_pairs_of(pairs, pairs->place);
    sum total = {.after = -1};
    *whose = (coll_run){0, 0};
    for (int i = 0; i < numbers.count; i++) {
        const coll_node_pair pair = coll_node_pairs_at(pairs, numbers.first + i);
        const size_t sent = bytes_of(d, pair.to), received = bytes_of(d, pair.for_us);
        if (sent > 0)
            add_message(d, COLL_STEP_SEND, pair.rank, node.at, sent, node.after);
        node.at += sent;
        *whose = pair.for_us; /* the same for all messages of this rank */
        if (received == 0)
            continue;
        const size_t at = take(d, received);
        add_message(d, COLL_STEP_RECEIVE, pair.rank, at, received, -1);
        if (i > 0)
            add_to(d, &total, at, received);
        else
            total = (sum){.at = at, .after = d->count - 1};
    }
    return total;
}

/* Combines this rank's data with the sum that is at AT after step AFTER. DATA is the step that
 * changed the data last. Returns the index of the combination, which now is the last change. */
static int add_to_data(draft *d, size_t at, int after, int data) {
    const int own = d->args->line->position;
    coll_step *combination =
        add_step(d, coll_step_combine(COLL_DATA, 0, bytes_of(d, (coll_run){own, 1}), false, false));
    combination->at = at;
    coll_step_after(combination, 0, after);
    coll_step_after(combination, 0, data);
    return d->count - 1;
}

/* Sends OTHERS, the sum of other nodes' contributions, to the ranks in WHOSE, and adds up the sums
 * for this rank: MINE, its node's sum, and those of the other nodes. */
static void sum_others(draft *d, sum mine, sum others, coll_run whose) {
    const coll_node_pairs *pairs = d->pairs;
    const int own = d->args->line->position;
    const size_t bytes = bytes_of(d, (coll_run){own, 1});
    for (int nth = 1; nth < pairs->ranks; nth++) {
        const int position = coll_node_pairs_position(d->pairs, coll_node_pairs_beside(pairs, nth));
        const size_t length = bytes_of(d, (coll_run){position, 1});
        if (length > 0 && coll_run_has(whose, position))
            add_message(d, COLL_STEP_SEND, pairs->order[position],
                        others.at + d->start[position] - d->start[whose.first], length,
                        others.after);
    }
    if (bytes == 0)
        return;
    coll_step *copy = add_step(d, coll_step_copy(COLL_DATA, 0, bytes, false));
    copy->at = mine.at;
    coll_step_after(copy, 0, mine.after);
    int data = d->count - 1;
    if (coll_run_has(whose, own))
        data =
            add_to_data(d, others.at + d->start[own] - d->start[whose.first], others.after, data);
    for (int nth = 1; nth < pairs->ranks; nth++) {
        const int place = coll_node_pairs_beside(pairs, -nth);
        if (coll_node_pairs_delivered(pairs, place, pairs->place).count == 0)
            continue;
        const size_t at = take(d, bytes);
        add_message(d, COLL_STEP_RECEIVE, pairs->order[coll_node_pairs_position(d->pairs, place)],
                    at, bytes, -1);
        data = add_to_data(d, at, d->count - 1, data);
    }
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const pairs_plan *plan = (const pairs_plan *)base;
    draft d = {.args = base->args, .pairs = &plan->pairs, .start = plan->start, .steps = steps};
    (void)round; /* there is only one */
    sum node = sum_inside(&d);
    coll_run whose;
    const sum others = exchange(&d, node, &whose);
    node.at += bytes_of(&d, coll_node_pairs_forwarded(d.pairs, d.pairs->place));
    sum_others(&d, node, others, whose);
    return d.count;
}

static size_t start_bytes(const coll_plan_args *args) {
    return ((size_t)args->shape->topo->ranks + 1) * sizeof(size_t);
}

/* The size is enough for the node that needs the most steps, and for the node that needs the most
 * scratch memory. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    const coll_node_pairs_extent all = coll_node_pairs_measure(args);
    const bool even = coll_blocks_even(args->input);
    const int p = args->shape->topo->ranks;
    const size_t longest = coll_blocks_longest(args->input), total = coll_blocks_sum(args->input);
    size_t most = 0;
    int steps = 0;
    for (int position = 0, ranks; position < p; position += ranks) {
        ranks = coll_plan_args_ranks(args, position, COLL_UNIT_NODE);
        const int messages = coll_node_pairs_messages(&all, ranks),
                  forwards = coll_node_pairs_forwards(&all, ranks),
                  in_part = (ranks + all.parts - 1) / all.parts,
                  node_steps = (even ? 3 * ranks : p) + 6 * ranks + 3 * messages;
        const size_t bytes = (size_t)ranks * coll_least(total, (size_t)(forwards + 1) * longest) +
                             (size_t)messages * coll_least(total, (size_t)in_part * longest) +
                             (size_t)ranks * longest;
        steps = node_steps > steps ? node_steps : steps;
        most = bytes > most ? bytes : most;
    }
    return (coll_plan_size){.window = 1,
                            .steps = steps,
                            .segments = 1,
                            .segment = total + most,
                            .own_bytes = sizeof(pairs_plan) + start_bytes(args) + all.bytes};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    pairs_plan *plan = memory;
    size_t *start = (void *)(plan + 1);
    start[0] = 0;
    for (int position = 0; position < args->shape->topo->ranks; position++)
        start[position + 1] = start[position] + coll_plan_args_block(args, args->input, position);
    plan->base = coll_plan_of(args, size, 1, plan_round);
    plan->pairs = coll_node_pairs_open(args, (char *)start + start_bytes(args));
    plan->start = start;
    return &plan->base;
}

static bool is_applicable(const coll_shape *call) {
    return coll_order_is_free(call) && coll_leaders_apply(call) &&
           call->topo->ranks > call->topo->nodes &&
           call->bytes <= BYTES_MOST / (size_t)call->topo->ranks;
}

const coll_algorithm coll_reduce_scatter_multi_leader = {
    .name = "multi_leader",
    .summary = "all ranks of a node exchange its sums with other nodes at the same time",
    .applicable = is_applicable,
    .passes = COLL_PASSES_EACH_ROUND,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
