/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usual_doubling and usual_neighbors: Open MPI's algorithms, for predicting its time.
 *
 * - doubling: pairs of ranks exchange all blocks that they have, twice as far apart each time; for
 *   powers of two.
 * - neighbors: a rank exchanges with its two neighbors in turn; first its own block, then its own
 *   and the received block, then always the two blocks that it received last; for even numbers of
 *   ranks.
 *
 * Messages are not cut. Steps: log2 p, or p / 2. Bytes: (p - 1) m from every rank and to it.
 * Sources: coll_base_allgather.c of Open MPI 4.1; Chen, Zhang, Zhang, Yuan: Performance evaluation
 * of allgather algorithms on terascale Linux cluster with Fast Ethernet, HPC Asia 2005.
 */
#include "config.h"

#include "lib/allgather/allgather.h"
#include "lib/pattern/binomial.h"
#include "lib/plan/plan.h"

enum { EXCHANGES = 2 }; /* exchanges of a rank with its neighbors in a round */

/* Returns a message of COUNT blocks, from FIRST on, to or from the rank at POSITION. */
static coll_step block_message(const coll_plan_args *args, coll_step_kind kind, int position,
                               int first, int count) {
    coll_step step =
        coll_step_message(kind, args->line->order[position], 0, (size_t)count * args->shape->bytes);
    step.block = first;
    step.segment = kind == COLL_STEP_SEND;
    return step;
}

static int doubling_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_plan_args *args = base->args;
    const int count = 1 << round, own = args->line->position, other = own ^ count;
    steps[0] = block_message(args, COLL_STEP_RECEIVE, other, other & -count, count);
    steps[1] = block_message(args, COLL_STEP_SEND, other, own & -count, count);
    return 2;
}

/*
 * Returns the first of the two blocks that POSITION receives in TURN. After the first turn a pair
 * of ranks has its own two blocks. Then the two blocks of another pair arrive in each turn,
 * alternately from the pairs before and behind; every two turns the distance grows by one pair.
 */
static int received_in(const coll_plan_args *args, int position, int turn) {
    const int ranks = args->shape->topo->ranks, pair = position - position % 2,
              away = (turn + 1) / 2 * 2;
    return (turn % 2 == position % 2 ? pair + away : pair - away + ranks) % ranks;
}

/* Writes the two steps of exchange TURN. */
static void exchange_with_neighbor(const coll_plan_args *args, int turn, coll_step steps[]) {
    const int ranks = args->shape->topo->ranks, own = args->line->position,
              other = (turn % 2 == own % 2 ? own + 1 : own - 1 + ranks) % ranks,
              received = turn ? received_in(args, own, turn) : other,
              sent = turn ? received_in(args, own, turn - 1) : own, count = turn ? 2 : 1;
    steps[0] = block_message(args, COLL_STEP_RECEIVE, other, received, count);
    steps[1] = block_message(args, COLL_STEP_SEND, other, sent, count);
}

/* A round has the exchanges with both neighbors: on a node with several ranks at most one of the
 * two exchanges is with another node, so all rounds take about the same time. */
static int neighbors_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_plan_args *args = base->args;
    const int turn = EXCHANGES * (int)round;
    exchange_with_neighbor(args, turn, steps);
    if (turn + 1 == args->shape->topo->ranks / 2)
        return 2;
    exchange_with_neighbor(args, turn + 1, steps + 2);
    steps[2].segment += 2;
    steps[3].segment += 2;
    coll_step_after(&steps[3], 0, 0);
    coll_step_pace(&steps[3], 0, 1);
    return 4;
}

/* Returns the size of a plan whose rounds have EXCHANGES exchanges, and whose longest message has
 * BLOCKS blocks. */
static coll_plan_size size_of(const coll_plan_args *args, int exchanges, int blocks) {
    return (coll_plan_size){.window = 1,
                            .steps = 2 * exchanges,
                            .segments = 2 * exchanges,
                            .segment = (size_t)blocks * args->shape->bytes,
                            .own_bytes = sizeof(coll_plan)};
}

static coll_plan_size doubling_size(const coll_plan_args *args) {
    return size_of(args, 1, args->shape->topo->ranks / 2);
}

static coll_plan_size neighbors_size(const coll_plan_args *args) {
    return size_of(args, EXCHANGES, 2);
}

static coll_plan *doubling_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_plan_make(args, size, memory, (uint64_t)coll_tree_depth(args->shape->topo->ranks),
                          doubling_round);
}

static coll_plan *neighbors_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    return coll_plan_make(args, size, memory,
                          (uint64_t)(args->shape->topo->ranks / 2 + 1) / EXCHANGES,
                          neighbors_round);
}

static bool is_power_of_two(const coll_shape *call) {
    return (call->topo->ranks & (call->topo->ranks - 1)) == 0;
}

static bool is_even(const coll_shape *call) {
    return call->topo->ranks % 2 == 0;
}

const coll_algorithm coll_allgather_usual_doubling = {
    .name = "usual_doubling",
    .summary = "pairs of ranks exchange all that they have, twice as far apart each time",
    .applicable = is_power_of_two,
    .passes = COLL_PASSES_EACH_ROUND,
    .planner = &(const coll_planner){.size = doubling_size, .plan = doubling_plan},
};

const coll_algorithm coll_allgather_usual_neighbors = {
    .name = "usual_neighbors",
    .summary = "a rank exchanges two blocks with one neighbor and the other by turns",
    .applicable = is_even,
    .passes = COLL_PASSES_EACH_RANK,
    .planner = &(const coll_planner){.size = neighbors_size, .plan = neighbors_plan},
};
