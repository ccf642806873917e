/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * multi_leader: all ranks of a node exchange with other nodes at the same time; for small blocks
 * and many ranks per node.
 *
 * 1. The ranks of a node divide the other nodes among themselves. Every rank sends to each other
 *    rank of its node one message: its block for the receiver, and its blocks for the nodes that
 *    the receiver serves.
 * 2. Two nodes exchange one message in each direction, which has all blocks from one to the other;
 *    or several, from several ranks, if every node has several ranks for each other node.
 * 3. Every rank sends to each other rank of its node the blocks that have come for that rank.
 *
 * lib/plan/node_pairs.h says which ranks serve which nodes. Messages are packed in scratch memory.
 *
 * Steps: (N - 1) / P messages to other nodes from every rank, and 2 (P - 1) inside, for N nodes of
 * P ranks. Bytes: every block once between nodes, and about twice inside. Memory: about six times
 * the blocks of a rank. Long calls use other algorithms: if messages between nodes reach the
 * transport's eager limit, the messages of two nodes take turns on a TCP connection of Open MPI.
 * Source: after Chochia, Solt, Hursey: Applying on-node aggregation methods to MPI alltoall
 * collectives: matrix block aggregation algorithm, EuroMPI 2022.
 */
#include "config.h"

#include "lib/alltoall/alltoall.h"
#include "lib/plan/node_pairs.h"

/* Upper limit of all blocks of a rank together, in bytes. */
static const size_t BYTES_MOST = 1 << 20;

typedef struct pairs_plan {
    coll_plan base;
    coll_node_pairs pairs;
} pairs_plan;

/* The only round of the plan, while it is being written. */
typedef struct draft {
    const coll_plan_args *args;
    const coll_node_pairs *pairs;
    size_t block; /* bytes */
    coll_step *steps;
    int count;
    size_t at; /* bytes of scratch memory used so far */
} draft;

static coll_step *add_step(draft *d, coll_step step) {
    d->steps[d->count] = step;
    return &d->steps[d->count++];
}

/* Takes scratch memory for BLOCKS blocks and returns its offset. */
static size_t take(draft *d, int blocks) {
    const size_t at = d->at;
    d->at += (size_t)blocks * d->block;
    return at;
}

/* Adds a message of BLOCKS blocks in scratch memory at AT. */
static coll_step *add_message(draft *d, coll_step_kind kind, int rank, size_t at, int blocks) {
    coll_step *message = add_step(d, coll_step_message(kind, rank, 0, (size_t)blocks * d->block));
    message->buffer = COLL_SCRATCH;
    message->at = at;
    return message;
}

/*
 * Adds the copies of the blocks in RUN between BUFFER and scratch memory at AT. A run that wraps
 * around takes two copies. The first comes after step AFTER, unless that is negative, and the
 * second after the first.
 */
static void add_copies(draft *d, coll_buffer buffer, coll_run run, size_t at, int after) {
    const int ranks = d->args->shape->topo->ranks;
    while (run.count > 0) {
        const int count = run.first + run.count > ranks ? ranks - run.first : run.count;
        coll_step *copy =
            add_step(d, coll_step_copy(buffer, 0, (size_t)count * d->block, buffer == COLL_INPUT));
        copy->block = run.first;
        copy->at = at;
        if (after >= 0)
            coll_step_after(copy, 0, after);
        after = d->count - 1;
        at += (size_t)count * d->block;
        run = (coll_run){0, run.count - count};
    }
}

/* Adds the copy of BLOCKS blocks from one place of scratch memory to another, after step AFTER. */
static coll_step *move_blocks(draft *d, size_t from, size_t at, int blocks, int after) {
    coll_step *copy =
        add_step(d, coll_step_copy(COLL_SCRATCH, from, (size_t)blocks * d->block, true));
    copy->at = at;
    coll_step_after(copy, 0, after);
    return copy;
}

/* Sends each other rank of the node one message: the blocks that the receiver will forward, and
 * then the block for the receiver itself. */
static void send_inside(draft *d) {
    for (int nth = 1; nth < d->pairs->ranks; nth++) {
        const int place = coll_node_pairs_beside(d->pairs, nth),
                  position = coll_node_pairs_position(d->pairs, place);
        const coll_run forwarded = coll_node_pairs_forwarded(d->pairs, place);
        const size_t at = take(d, forwarded.count + 1);
        add_copies(d, COLL_INPUT, forwarded, at, -1);
        add_copies(d, COLL_INPUT, (coll_run){position, 1}, at + (size_t)forwarded.count * d->block,
                   forwarded.count ? d->count - 1 : -1);
        const int packed = d->count - 1;
        coll_step_after(
            add_message(d, COLL_STEP_SEND, d->pairs->order[position], at, forwarded.count + 1), 0,
            packed);
    }
}

/*
 * Receives the blocks that the other ranks of the node send, and sorts the blocks that this rank
 * forwards by destination, then by source. Returns the offset of the sorted blocks.
 */
static size_t receive_inside(draft *d) {
    const coll_node_pairs *pairs = d->pairs;
    const coll_run forwarded = coll_node_pairs_forwarded(pairs, pairs->place);
    const size_t sorted = take(d, forwarded.count * pairs->ranks),
                 row = (size_t)pairs->ranks * d->block;
    for (int nth = 1; nth < pairs->ranks; nth++) {
        const int place = coll_node_pairs_beside(pairs, -nth), received = d->count,
                  position = coll_node_pairs_position(d->pairs, place);
        const size_t at = take(d, forwarded.count + 1);
        add_message(d, COLL_STEP_RECEIVE, pairs->order[position], at, forwarded.count + 1);
        for (int i = 0; i < forwarded.count; i++)
            move_blocks(d, at + (size_t)i * d->block,
                        sorted + (size_t)i * row + (size_t)place * d->block, 1, received);
        add_copies(d, COLL_DATA, (coll_run){position, 1}, at + (size_t)forwarded.count * d->block,
                   received);
    }
    for (int i = 0; i < forwarded.count; i++)
        add_copies(d, COLL_INPUT,
                   (coll_run){(forwarded.first + i) % d->args->shape->topo->ranks, 1},
                   sorted + (size_t)i * row + (size_t)pairs->place * d->block, -1);
    if (forwarded.count > 0)
        d->steps[d->count - 1].after_earlier = true;
    return sorted;
}

/* The messages received from other nodes. */
typedef struct arrivals {
    int first; /* the step that receives the first message; each further one is two steps later */
    size_t at; /* offset of the first message in scratch memory; the others follow */
} arrivals;

/* Exchanges the blocks at SORTED with other nodes. */
static arrivals exchange(draft *d, size_t sorted) {
    const coll_node_pairs *pairs = d->pairs;
    const coll_run numbers = coll_node_pairs_of(pairs, pairs->place);
    const int ready = d->count - 1;
    const arrivals result = {.first = d->count, .at = d->at};
    for (int i = 0; i < numbers.count; i++) {
        const coll_node_pair pair = coll_node_pairs_at(pairs, numbers.first + i);
        const int sent = pair.to.count * pairs->ranks,
                  received = pair.for_us.count * pair.node.count;
        add_message(d, COLL_STEP_RECEIVE, pair.rank, take(d, received), received);
        coll_step_after(add_message(d, COLL_STEP_SEND, pair.rank, sorted, sent), 0, ready);
        sorted += (size_t)sent * d->block;
    }
    return result;
}

/* Copies the blocks that have come for this rank to its data. */
static void keep_own(draft *d, arrivals from) {
    const coll_node_pairs *pairs = d->pairs;
    const coll_run numbers = coll_node_pairs_of(pairs, pairs->place);
    for (int i = 0; i < numbers.count; i++) {
        const coll_node_pair pair = coll_node_pairs_at(pairs, numbers.first + i);
        const int before = d->args->line->position - pair.for_us.first;
        if (coll_run_has(pair.for_us, d->args->line->position))
            add_copies(d, COLL_DATA, pair.node,
                       from.at + (size_t)(before * pair.node.count) * d->block, from.first + 2 * i);
        from.at += (size_t)(pair.for_us.count * pair.node.count) * d->block;
    }
}

/* Sends to the rank at PLACE of the node the blocks that have come for that rank. */
static void deliver_to(draft *d, int place, arrivals from) {
    const coll_node_pairs *pairs = d->pairs;
    const coll_run numbers = coll_node_pairs_of(pairs, pairs->place);
    const int position = coll_node_pairs_position(d->pairs, place), first = d->count,
              all = coll_node_pairs_delivered(pairs, pairs->place, place).count;
    if (all == 0)
        return;
    const size_t packed = d->at;
    size_t at = packed;
    int after = from.first;
    for (int i = 0; i < numbers.count; i++) {
        const coll_node_pair pair = coll_node_pairs_at(pairs, numbers.first + i);
        const size_t arrived =
            from.at + (size_t)((position - pair.for_us.first) * pair.node.count) * d->block;
        from.at += (size_t)(pair.for_us.count * pair.node.count) * d->block;
        if (!coll_run_has(pair.for_us, position))
            continue;
        if (pair.node.count == all) { /* they are in one message, and needn't be packed */
            at = arrived;
            after = from.first + 2 * i;
            break;
        }
        coll_step *copy =
            move_blocks(d, arrived, take(d, pair.node.count), pair.node.count, from.first + 2 * i);
        if (d->count - 1 > first)
            coll_step_after(copy, 0, d->count - 2);
        after = d->count - 1;
    }
    coll_step_after(add_message(d, COLL_STEP_SEND, pairs->order[position], at, all), 0, after);
}

/* Receives the blocks from other nodes that the rank at PLACE of the node delivers. */
static void receive_from(draft *d, int place) {
    const coll_run sources = coll_node_pairs_delivered(d->pairs, place, d->pairs->place);
    if (sources.count == 0)
        return;
    const int rank = d->pairs->order[coll_node_pairs_position(d->pairs, place)];
    const size_t at = take(d, sources.count);
    add_message(d, COLL_STEP_RECEIVE, rank, at, sources.count);
    add_copies(d, COLL_DATA, sources, at, d->count - 1);
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const pairs_plan *plan = (const pairs_plan *)base;
    draft d = {.args = base->args,
               .pairs = &plan->pairs,
               .block = base->args->shape->bytes,
               .steps = steps};
    (void)round; /* there is only one */
    send_inside(&d);
    const arrivals arrived = exchange(&d, receive_inside(&d));
    keep_own(&d, arrived);
    for (int nth = 1; nth < plan->pairs.ranks; nth++) {
        deliver_to(&d, coll_node_pairs_beside(d.pairs, nth), arrived);
        receive_from(&d, coll_node_pairs_beside(d.pairs, -nth));
    }
    return d.count;
}

/* The size is enough for the node that needs the most steps, and for the node that needs the most
 * scratch memory. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    const coll_node_pairs_extent all = coll_node_pairs_measure(args);
    const int p = args->shape->topo->ranks;
    int steps = 0, blocks = 0;
    for (int position = 0, ranks; position < p; position += ranks) {
        ranks = coll_plan_args_ranks(args, position, COLL_UNIT_NODE);
        const int messages = coll_node_pairs_messages(&all, ranks),
                  forwards = coll_node_pairs_forwards(&all, ranks),
                  arrived = messages * all.most * ((ranks + all.parts - 1) / all.parts),
                  node_steps = ranks * (9 + forwards + messages) + 3 * messages,
                  node_blocks = 2 * p + ranks * (2 * forwards + 1) + 2 * arrived;
        steps = node_steps > steps ? node_steps : steps;
        blocks = node_blocks > blocks ? node_blocks : blocks;
    }
    return (coll_plan_size){.window = 1,
                            .steps = steps,
                            .segments = 1,
                            .segment = (size_t)blocks * args->shape->bytes,
                            .own_bytes = sizeof(pairs_plan) + all.bytes};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    pairs_plan *plan = memory;
    plan->base = coll_plan_of(args, size, 1, plan_round);
    plan->pairs = coll_node_pairs_open(args, plan + 1);
    return &plan->base;
}

/* Returns the most blocks of a message between nodes of equal size. */
static size_t blocks_of_message(const coll_topo *topo) {
    const size_t ranks = (size_t)topo->most_ranks_per_node, others = (size_t)topo->nodes - 1,
                 parts = ranks > others ? ranks / others : 1;
    return (ranks + parts - 1) / parts * ranks;
}

static bool is_applicable(const coll_shape *call) {
    return coll_leaders_apply(call) && call->topo->ranks > call->topo->nodes &&
           call->bytes <= BYTES_MOST / (size_t)call->topo->ranks &&
           call->bytes < COLL_EAGER / blocks_of_message(call->topo);
}

const coll_algorithm coll_alltoall_multi_leader = {
    .name = "multi_leader",
    .summary = "all ranks of a node exchange blocks with other nodes at the same time",
    .applicable = is_applicable,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
