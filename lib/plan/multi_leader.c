/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/plan/multi_leader.h"

#include "lib/pattern/binomial.h"
#include "lib/pattern/radix.h"

/* --- Cuts --- */

coll_run coll_cut_run(const coll_cut *cut, int i) {
    const size_t all = (size_t)cut->whole.count;
    return (coll_run){cut->whole.first + (int)coll_block_start(all, cut->parts, i),
                      (int)coll_block_length(all, cut->parts, i)};
}

static coll_cut cut_run(coll_run whole, int radix, int member) {
    coll_cut cut = {.whole = whole, .parts = whole.count < radix ? whole.count : radix};
    cut.own = coll_block_at((size_t)whole.count, cut.parts, (size_t)(member - whole.first));
    return cut;
}

int coll_cut_depth(int count, int radix, int member) {
    int cuts = 0;
    for (coll_run run = {0, count}; run.count > 1; cuts++) {
        const coll_cut cut = cut_run(run, radix, member);
        run = coll_cut_run(&cut, cut.own);
    }
    return cuts;
}

coll_cut coll_cut_at(int count, int radix, int member, int depth) {
    coll_cut cut = cut_run((coll_run){0, count}, radix, member);
    while (depth-- > 0)
        cut = cut_run(coll_cut_run(&cut, cut.own), radix, member);
    return cut;
}

/* Returns the member of run I of CUT that sends to MEMBER. */
static int source_in(const coll_cut *cut, int i, int member) {
    const coll_run own = coll_cut_run(cut, cut->own), other = coll_cut_run(cut, i);
    return other.first + (member - own.first) % other.count;
}

/* --- Nodes --- */

/*
 * Returns the seconds of ROUNDS exchanges with RADIX, in which a rank sends up to MESSAGES
 * messages. The node's ranks share its link. A reduction sends whole sums in each round; without
 * a reduction each block crosses the link once with any radix, so the bytes don't count.
 */
static double seconds_of(const coll_plan_args *args, int rounds, int radix, int messages,
                         int node_cuts) {
    const coll_profile *profile = args->shape->profile;
    const coll_cost *link = coll_profile_outermost(profile, args->shape->topo);
    const size_t sum = args->shape->element ? args->shape->bytes : 0;
    return rounds * (coll_cost_relay(link, 0) + (messages - 1) * 2 * link->overhead +
                     (radix - 1 - messages) * (double)sum * link->per_byte +
                     node_cuts * coll_cost_relay(&profile->level[COLL_LEVEL_NODE], 0));
}

/* Returns the radix that takes the least time; of several with the same number of exchanges, the
 * smallest. */
static int best_radix(const coll_plan_args *args, int nodes, int fewest, int node_cuts) {
    double least = 0;
    int best = 0;
    for (int rounds = 1, radix = 0; radix != 2; rounds++) {
        radix = coll_radix_for(nodes, rounds);
        if (radix > COLL_LEADERS_RADIX)
            continue;
        const int messages = (radix - 1 + fewest - 1) / fewest;
        const double seconds = seconds_of(args, rounds, radix, messages, node_cuts);
        if (best == 0 || seconds <= least) {
            least = seconds;
            best = radix;
        }
    }
    return best;
}

coll_leaders_extent coll_leaders_measure(const coll_plan_args *args, uint64_t asked) {
    const coll_extent ranks =
        coll_rank_order_extent(args->line, args->shape->topo, COLL_UNIT_RANK, COLL_UNIT_NODE);
    coll_leaders_extent all = {.nodes = ranks.wholes, .fewest = ranks.fewest, .most = ranks.most};
    all.node_cuts = coll_tree_depth(all.most);
    all.radix = asked >= 2 ? (int)asked : best_radix(args, all.nodes, all.fewest, all.node_cuts);
    all.radix = (int)coll_least((size_t)all.radix, (size_t)(all.nodes > 2 ? all.nodes : 2));
    all.cuts = coll_radix_digits(all.nodes, all.radix);
    all.receives = (all.radix - 1 + all.fewest - 1) / all.fewest;
    all.sends = 2 * all.receives;
    all.bytes = ((size_t)all.nodes + 1) * sizeof(int);
    return all;
}

coll_leaders coll_leaders_open(const coll_plan_args *args, uint64_t asked, void *memory) {
    const coll_leaders_extent all = coll_leaders_measure(args, asked);
    const int *first = memory,
              node = coll_rank_order_list(args->line, args->shape->topo, COLL_UNIT_NODE, memory),
              ranks = first[node + 1] - first[node], place = args->line->position - first[node];
    return (coll_leaders){.order = args->line->order,
                          .first = first,
                          .nodes = all.nodes,
                          .node = node,
                          .ranks = ranks,
                          .place = place,
                          .radix = all.radix,
                          .cuts = coll_cut_depth(all.nodes, all.radix, node),
                          .node_cuts = coll_cut_depth(ranks, 2, place)};
}

/* --- Turns --- */

/* Returns the place of NODE's rank that exchanges messages with the NTH of OTHERS other runs. If
 * NODE sends to two nodes of a longer run, the SECOND message is from another place, unless OTHERS
 * is a multiple of NODE's ranks. */
static int place_for(const coll_leaders *leaders, int node, int others, int nth, int second) {
    const int ranks = leaders->first[node + 1] - leaders->first[node];
    return (coll_block_at((size_t)others, ranks, (size_t)nth) + second * others) % ranks;
}

/* Returns the numbers of the other runs of CUT from which PLACES of this node receive. */
static coll_run received_by(const coll_leaders *leaders, const coll_cut *cut, coll_run places) {
    const size_t others = (size_t)cut->parts - 1;
    const int first = (int)coll_block_start(others, leaders->ranks, places.first),
              end = (int)coll_block_start(others, leaders->ranks, places.first + places.count);
    return (coll_run){first, end - first};
}

coll_run coll_leaders_received(const coll_leaders *leaders, const coll_leaders_turn *turn, int i) {
    return received_by(leaders, &turn->exchange, coll_cut_run(&turn->cut, i));
}

/* Adds the sends of this rank to run I of TURN's cut. */
static void send_to_run(const coll_leaders *leaders, coll_leaders_turn *turn, int i) {
    const coll_cut *cut = &turn->cut;
    const coll_run own = coll_cut_run(cut, cut->own), other = coll_cut_run(cut, i);
    const int others = cut->parts - 1, here = coll_cut_number_of_run(cut, cut->own, i),
              there = coll_cut_number_of_run(cut, i, cut->own);
    int second = 0;
    for (int to = leaders->node - own.first; to < other.count; to += own.count, second++) {
        const int node = other.first + to;
        if (place_for(leaders, leaders->node, others, here, second) != leaders->place)
            continue;
        turn->to[turn->sends++] =
            leaders->order[leaders->first[node] + place_for(leaders, node, others, there, 0)];
    }
}

/* Adds the receive of this rank from run I of TURN's cut. */
static void receive_from_run(const coll_leaders *leaders, coll_leaders_turn *turn, int i) {
    const coll_cut *cut = &turn->cut;
    const int node = source_in(cut, i, leaders->node),
              there = coll_cut_number_of_run(cut, i, cut->own),
              second =
                  (leaders->node - coll_cut_run(cut, cut->own).first) / coll_cut_run(cut, i).count;
    turn->run[turn->receives] = i;
    turn->from[turn->receives++] =
        leaders
            ->order[leaders->first[node] + place_for(leaders, node, cut->parts - 1, there, second)];
}

static void exchange_with_nodes(const coll_leaders *leaders, coll_leaders_turn *turn) {
    const coll_run received = received_by(leaders, &turn->cut, (coll_run){leaders->place, 1});
    for (int nth = 0; nth < turn->cut.parts - 1; nth++)
        send_to_run(leaders, turn, coll_cut_run_of_number(&turn->cut, nth));
    for (int nth = received.first; nth < received.first + received.count; nth++)
        receive_from_run(leaders, turn, coll_cut_run_of_number(&turn->cut, nth));
}

/* In a gather, or a spread, a rank exchanges with the other run of its node's ranks. */
static void exchange_inside(const coll_leaders *leaders, coll_leaders_turn *turn) {
    const coll_cut *cut = &turn->cut;
    const int other = 1 - cut->own, *ranks = &leaders->order[leaders->first[leaders->node]];
    const coll_run own = coll_cut_run(cut, cut->own), theirs = coll_cut_run(cut, other);
    const bool gathers = turn->kind == COLL_LEADERS_GATHER;
    if (gathers || coll_leaders_received(leaders, turn, cut->own).count > 0)
        for (int to = leaders->place - own.first; to < theirs.count; to += own.count)
            turn->to[turn->sends++] = ranks[theirs.first + to];
    if (gathers || coll_leaders_received(leaders, turn, other).count > 0) {
        turn->run[turn->receives] = other;
        turn->from[turn->receives++] = ranks[source_in(cut, other, leaders->place)];
    }
}

int coll_leaders_turns(const coll_leaders *leaders) {
    return leaders->node_cuts + leaders->cuts * (1 + leaders->node_cuts);
}

void coll_leaders_turn_at(const coll_leaders *leaders, int number, coll_leaders_turn *turn) {
    const int after = number - leaders->node_cuts, each = 1 + leaders->node_cuts,
              inner = after < 0 ? number : after % each - 1; /* the node's cut, innermost: 0 */
    turn->kind = after < 0   ? COLL_LEADERS_GATHER
                 : inner < 0 ? COLL_LEADERS_EXCHANGE
                             : COLL_LEADERS_SPREAD;
    turn->sends = turn->receives = 0;
    if (turn->kind != COLL_LEADERS_EXCHANGE)
        turn->cut = coll_cut_at(leaders->ranks, 2, leaders->place, leaders->node_cuts - 1 - inner);
    turn->exchange = after < 0 ? turn->cut
                               : coll_cut_at(leaders->nodes, leaders->radix, leaders->node,
                                             leaders->cuts - 1 - after / each);
    turn->is_last = after < 0 || inner == leaders->node_cuts - 1;
    if (turn->kind != COLL_LEADERS_EXCHANGE) {
        exchange_inside(leaders, turn);
        return;
    }
    turn->cut = turn->exchange;
    exchange_with_nodes(leaders, turn);
}

/* --- Plans --- */

/* A window of 1: a round begins when the one before is complete. */
coll_plan_size coll_leaders_plan_size(const coll_plan_args *args, int copies, int most,
                                      size_t segment) {
    const coll_leaders_extent all = coll_leaders_measure(args, args->values->at[COLL_RADIX]);
    const int all_copies = copies * (1 + all.receives);
    return (coll_plan_size){.window = 1,
                            .steps =
                                all.sends + all.receives + (all_copies < most ? all_copies : most),
                            .segments = 1,
                            .segment = segment,
                            .own_bytes = sizeof(coll_leaders_plan) + all.bytes};
}

coll_plan *coll_leaders_plan_make(const coll_plan_args *args, coll_plan_size size, void *memory,
                                  coll_round *round) {
    coll_leaders_plan *plan = memory;
    plan->leaders = coll_leaders_open(args, args->values->at[COLL_RADIX], plan + 1);
    plan->base = coll_plan_of(args, size, (uint64_t)coll_leaders_turns(&plan->leaders), round);
    return &plan->base;
}

bool coll_leaders_apply(const coll_shape *call) {
    return call->topo->nodes > 1 && call->topo->sites == 1;
}
