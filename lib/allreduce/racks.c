/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * racks: for uplinks that are slower than a rack's hosts together. As little data as possible
 * crosses each uplink, and the uplinks are in use as soon as the first piece is summed up.
 *
 * The data is divided into groups, each of which has one piece for each of the R racks. Each rack
 * sums up every piece: its parts travel around the ring of the rack's ranks, until each rank has
 * the sum of its own part. Then each piece travels, part by part, around the ring of the racks: it
 * is added up in R - 1 turns, and forwarded in R - 1 more, while the racks are busy with the next
 * group. A rack passes the results that it receives around its ranks. Racks may have different
 * sizes: a rank sends its part of a piece to all ranks of the next rack whose parts overlap it.
 *
 * In turn (k, t) rack r sums up piece r - t of group k inside, adds the sum that the rack before
 * has sent (except in turn 0), and sends the new sum to the next rack. It also handles the result
 * of piece r + 1 - t of group k - 1: it receives the result (except in turn 0, when the rack has it
 * already), forwards it to the next rack, and passes it around its own ranks. In the last turn of a
 * group nothing goes to the next rack.
 *
 * Steps: R (C + 1) turns for C groups. Bytes: in a rack of n ranks, each sends and receives
 * 2 m (n - 1)/n inside and 2 m (R - 1)/(R n) outside; over each uplink 2 m (R - 1)/R in either
 * direction. Memory: four parts for each round of the window; a turn has as many rounds as the
 * largest rack has ranks, and one more.
 * Source: after Cho and others: BlueConnect (MLSys 2019), as one pipeline.
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/plan/tuned.h"

#include <limits.h>

enum { RECEIVED, SENT, GATHERED, PASSED, SEGMENTS }; /* segments of a round's memory */

typedef struct racks_plan {
    coll_plan base;
    int racks, rack;  /* number of racks, and this rank's rack along the line */
    int place, ranks; /* this rank's place in its rack, and the number of ranks there */
    int rounds;       /* rounds of a turn */
    uint64_t groups;
    /* position in the line at which each rack begins, and the end of the last one */
    const int *first;
} racks_plan;

static int modulo(int64_t i, int n) {
    return (int)((i % n + n) % n);
}

static int size_of(const racks_plan *plan, int rack) {
    return plan->first[rack + 1] - plan->first[rack];
}

static coll_range piece_of(const racks_plan *plan, uint64_t group, int64_t which) {
    const coll_shape *shape = plan->base.args->shape;
    return coll_share(shape, shape->bytes, (int)plan->groups * plan->racks,
                      (int)group * plan->racks + modulo(which, plan->racks));
}

/* Returns the part of PIECE that the rank at PLACE sums up, in a rack of RANKS ranks. */
static coll_range part_of(const racks_plan *plan, coll_range piece, int ranks, int64_t place) {
    coll_range share =
        coll_share(plan->base.args->shape, piece.length, ranks, modulo(place, ranks));
    return (coll_range){piece.from + share.from, share.length};
}

static coll_range own_part(const racks_plan *plan, coll_range piece) {
    return part_of(plan, piece, plan->ranks, plan->place);
}

/* --- Between racks --- */

static int rack_before(const racks_plan *plan) {
    return modulo(plan->rack - 1, plan->racks);
}

/* Returns the place of the rank that sums up byte AT of PIECE, in a rack of RANKS ranks. */
static int place_with(const racks_plan *plan, coll_range piece, int ranks, size_t at) {
    const coll_shape *shape = plan->base.args->shape;
    const size_t element = shape->element ? shape->element : 1;
    return coll_block_at(piece.length / element, ranks, (at - piece.from) / element);
}

/*
 * Writes a message to or from each rank of rack OTHER whose part overlaps this rank's part of
 * PIECE. The messages are copies of ONE except for peer and range. Returns the number of messages.
 */
static int exchange_with_rack(const racks_plan *plan, coll_range piece, int other, coll_step one,
                              coll_step steps[]) {
    const int ranks = size_of(plan, other);
    const coll_range own = own_part(plan, piece);
    int count = 0, place = place_with(plan, piece, ranks, own.from);
    for (size_t from = own.from, end = from + own.length; from < end; place++) {
        const coll_range part = part_of(plan, piece, ranks, place);
        coll_step *step = &steps[count++];
        *step = one;
        step->peer = plan->base.args->line->order[plan->first[other] + place];
        step->from = from;
        step->length = coll_least(part.from + part.length, end) - from;
        step->at = from - own.from;
        from += step->length;
    }
    return count;
}

/*
 * Returns the index of the step that adds or stores the received part of PIECE. It comes after the
 * receives.
 */
static int place_of_merge(const racks_plan *plan, coll_range piece) {
    const int ranks = size_of(plan, rack_before(plan));
    const coll_range own = own_part(plan, piece);
    return own.length == 0 ? 0
                           : place_with(plan, piece, ranks, own.from + own.length - 1) -
                                 place_with(plan, piece, ranks, own.from) + 1;
}

/*
 * Writes the steps that receive this rank's part of PIECE from the rack before (except in the first
 * turn of a group), merge it with the data by step MERGE, and send it to the next rack (except in
 * the last turn). In the first turn, SEND holds the dependencies of the sends.
 */
static int pass_to_next_rack(const racks_plan *plan, coll_range piece, int turn, coll_step merge,
                             coll_step send, coll_step steps[]) {
    int count = 0;
    if (!merge.length)
        return 0;
    if (turn > 0) {
        coll_step receive = coll_step_receive(0, 0, 0);
        receive.buffer = COLL_SCRATCH;
        receive.lane = send.lane;
        count = exchange_with_rack(plan, piece, rack_before(plan), receive, steps);
        send.afters = 0;
        coll_step_after(&send, 0, count);
        merge.after_earlier = true;
        steps[count++] = merge;
    }
    if (turn < plan->racks - 1) {
        send.segment = SENT;
        count += exchange_with_rack(plan, piece, modulo(plan->rack + 1, plan->racks), send,
                                    &steps[count]);
    }
    return count;
}

/* --- Inside a rack --- */

static bool is_passed_round(const racks_plan *plan, coll_range piece, int hop) {
    return hop < plan->ranks - 1 && part_of(plan, piece, plan->ranks, plan->place - 1 - hop).length;
}

static bool is_summed_up(const racks_plan *plan, coll_range piece, int hop) {
    return hop < plan->ranks - 1 && part_of(plan, piece, plan->ranks, plan->place - 2 - hop).length;
}

/*
 * The pieces that a rack sums up and passes around in a turn; their length is 0 if there are none.
 */
typedef struct moment {
    uint64_t group;
    int turn;
    coll_range sums, results;
} moment;

static moment moment_of(const racks_plan *plan, uint64_t turn) {
    moment now = {.group = turn / (uint64_t)plan->racks,
                  .turn = (int)(turn % (uint64_t)plan->racks)};
    if (now.group < plan->groups)
        now.sums = piece_of(plan, now.group, plan->rack - now.turn);
    if (now.group > 0)
        now.results = piece_of(plan, now.group - 1, plan->rack + 1 - now.turn);
    return now;
}

/* Returns the index of the step that adds the received sum in hop HOP inside the rack; this step
 * follows the receives. */
static int place_of_sum(const racks_plan *plan, const moment *now, int hop) {
    return is_passed_round(plan, now->results, hop) + 1;
}

static int place_of_sums_send(const racks_plan *plan, const moment *now, int hop) {
    return is_passed_round(plan, now->results, hop) + 2 * is_summed_up(plan, now->sums, hop);
}

/*
 * Returns a message around the rack: a receive from the rank before this one, or a send to the next
 * one.
 */
static coll_step round_message(const racks_plan *plan, coll_step_kind kind, coll_range what,
                               int lane, int segment) {
    int place = modulo(plan->place + (kind == COLL_STEP_SEND ? 1 : -1), plan->ranks);
    coll_step step =
        coll_step_message(kind, plan->base.args->line->order[plan->first[plan->rack] + place],
                          what.from, what.length);
    step.lane = lane;
    step.segment = segment;
    return step;
}

static int receive_inside(const racks_plan *plan, const moment *now, uint64_t turn, int hop,
                          coll_step steps[]) {
    int n = plan->ranks, count = 0;
    if (is_passed_round(plan, now->results, hop)) {
        coll_step *step = &steps[count++];
        *step = round_message(plan, COLL_STEP_RECEIVE,
                              part_of(plan, now->results, n, plan->place - 1 - hop),
                              COLL_LANE_RESULTS, GATHERED);
        if (now->turn == 0) { /* the sum was sent from the same memory one turn ago */
            moment before = moment_of(plan, turn - 1);
            coll_step_after(step, plan->rounds, place_of_sums_send(plan, &before, hop));
        }
    }
    if (is_summed_up(plan, now->sums, hop)) {
        coll_range sum = part_of(plan, now->sums, n, plan->place - 2 - hop);
        coll_step *step = &steps[count++], *add = &steps[count++];
        *step = round_message(plan, COLL_STEP_RECEIVE, sum, COLL_LANE_SUMS, RECEIVED);
        step->buffer = COLL_SCRATCH;
        *add = coll_step_combine(COLL_DATA, sum.from, sum.length, false, true);
        add->segment = RECEIVED;
        coll_step_after(add, 0, count - 2);
    }
    return count;
}

/* Writes hop HOP around the rack: receives parts, and sends the parts that were received in the hop
 * before or, in hop 0, this rank's own. */
static int hop_inside(const racks_plan *plan, const moment *now, uint64_t turn, int hop,
                      coll_step steps[]) {
    int n = plan->ranks, count = receive_inside(plan, now, turn, hop, steps);
    coll_range sum = part_of(plan, now->sums, n, plan->place - 1 - hop),
               result = part_of(plan, now->results, n, plan->place - hop);
    if (hop >= n - 1)
        return 0;
    if (sum.length) {
        coll_step *step = &steps[count++];
        *step = round_message(plan, COLL_STEP_SEND, sum, COLL_LANE_SUMS, SENT);
        if (hop > 0)
            coll_step_after(step, 1, place_of_sum(plan, now, hop - 1));
    }
    if (result.length) {
        coll_step *step = &steps[count++];
        *step = round_message(plan, COLL_STEP_SEND, result, COLL_LANE_RESULTS, PASSED);
        if (hop > 0)
            coll_step_after(step, 1, 0);
        else /* merged in the turn's first round, or in the last round of the turn before */
            coll_step_after(step, now->turn > 0 ? 1 : 2, place_of_merge(plan, now->results));
    }
    return count;
}

/* --- Rounds of a turn: exchange results with racks, hops inside, exchange sums with racks --- */

static int exchange_results(const racks_plan *plan, const moment *now, coll_step steps[]) {
    coll_range own = own_part(plan, now->results);
    coll_step store = coll_step_copy(COLL_DATA, own.from, own.length, false),
              send = coll_step_send(0, 0, 0);
    send.lane = COLL_LANE_RESULTS;
    coll_step_after(&send, 1, place_of_merge(plan, now->results));
    return pass_to_next_rack(plan, now->results, now->turn, store, send, steps);
}

static int exchange_sums(const racks_plan *plan, const moment *now, coll_step steps[]) {
    coll_range own = own_part(plan, now->sums);
    coll_step add = coll_step_combine(COLL_DATA, own.from, own.length, false, true),
              send = coll_step_send(0, 0, 0);
    send.lane = COLL_LANE_SUMS;
    if (plan->ranks > 1) {
        int back = plan->rounds - plan->ranks, which = place_of_sum(plan, now, plan->ranks - 2);
        coll_step_after(&add, back, which);
        coll_step_after(&send, back, which);
    }
    return pass_to_next_rack(plan, now->sums, now->turn, add, send, steps);
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const racks_plan *plan = (const racks_plan *)base;
    uint64_t turn = round / (uint64_t)plan->rounds;
    int within = (int)(round % (uint64_t)plan->rounds);
    moment now = moment_of(plan, turn);
    if (!now.sums.length && !now.results.length)
        return 0;
    if (within == 0)
        return exchange_results(plan, &now, steps);
    if (within == plan->rounds - 1)
        return exchange_sums(plan, &now, steps);
    return hop_inside(plan, &now, turn, within - 1, steps);
}

/* --- Measures --- */

static uint64_t groups_of(const coll_plan_args *args) {
    const coll_shape *shape = args->shape;
    size_t segment = coll_segment_asked(args, 2.0 * shape->topo->ranks);
    uint64_t ranks = (uint64_t)shape->topo->ranks, most = INT_MAX / ranks,
             groups = coll_segment_count(coll_segment_count(shape->bytes, segment), ranks);
    return groups < most ? groups : most;
}

/*
 * A message that one rack sends in a round of a turn is received by the next rack in the same round
 * of that rack's next turn, so more rounds are in flight than one turn has. The window has at most
 * one turn for each rack, so that no range is still on its way to the next rack when its result
 * comes back.
 */
static coll_plan_size plan_size(const coll_plan_args *args) {
    const coll_shape *shape = args->shape;
    int most, least = coll_topo_fewest(shape->topo, COLL_LEVEL_RACK, &most),
              racks = shape->topo->racks;
    size_t piece = coll_share_start(shape, shape->bytes, (int)groups_of(args) * racks, 1),
           turn = (size_t)most + 1,
           window = coll_least(args->values->at[COLL_WINDOW], ((size_t)racks - 1) * turn);
    int overlaps = most / least + 2, across = 1 + 2 * (overlaps < most ? overlaps : most);
    return (coll_plan_size){.window = (int)(turn + window),
                            .steps = across < 5 ? 5 : across,
                            .segments = SEGMENTS,
                            .segment = coll_share_start(shape, piece, least, 1),
                            .own_bytes = sizeof(racks_plan) + ((size_t)racks + 1) * sizeof(int)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    racks_plan *plan = memory;
    int racks = args->shape->topo->racks;
    *plan = (racks_plan){.base = coll_plan_of(args, size, 0, plan_round),
                         .racks = racks,
                         .groups = groups_of(args),
                         .first = (int *)(plan + 1)};
    plan->rack =
        coll_rank_order_list(args->line, args->shape->topo, COLL_UNIT_RACK, (int *)(plan + 1));
    for (int rack = 0; rack < racks; rack++)
        plan->rounds = size_of(plan, rack) >= plan->rounds ? size_of(plan, rack) + 1 : plan->rounds;
    plan->place = args->line->position - plan->first[plan->rack];
    plan->ranks = size_of(plan, plan->rack);
    plan->base.rounds = (plan->groups + 1) * (uint64_t)racks * (uint64_t)plan->rounds;
    return &plan->base;
}

/*
 * Returns whether operands may be combined in any order and there are several racks. The largest
 * rack may have at most MOST times as many ranks as the smallest one, so that a rank has few
 * messages to another rack. It must also be so small that a step can depend on a step of the turn
 * before.
 */
static bool is_applicable(const coll_shape *call) {
    enum { MOST = 16 };
    int most, least = coll_topo_fewest(call->topo, COLL_LEVEL_RACK, &most);
    return !call->ordered && call->topo->racks > 1 && most <= MOST * least && most < COLL_BACK_MOST;
}

const coll_algorithm coll_allreduce_racks = {
    .name = "racks",
    .summary = "sums inside racks, then around the ring of racks; results go around inside",
    .params = {COLL_PARAM_SEGMENT(
                   "bytes of a rank's part of a piece, on average; 0: by the cost model", 0),
               COLL_PARAM_WINDOW("rounds in flight in addition to those of a turn", 4)},
    .applicable = is_applicable,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
