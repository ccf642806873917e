/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairwise: in each turn every rank sends a block to one other rank and receives a block from
 * another.
 *
 * 1. In every turn about the same share of each rack's messages crosses its uplink, in either
 *    direction.
 *    - Racks of equal size: a rank has a place in its rack, counted from 0. In turn (s, e) the rank
 *      at place j sends to place j + s (modulo the size of a rack) of the rack that is e + j racks
 *      further on. So the ranks of a rack send to different racks.
 *    - Racks of different sizes, or of one rank each: there is one slot per rank, and the ranks of
 *      each rack are spread evenly over all slots. In turn t the rank in slot u sends to the
 *      position u + t of the line (modulo the ranks). Racks are contiguous in the line, so the
 *      share of a rack's messages that stays inside is proportional to the size of the rack.
 * 2. Blocks move in segments. A rank requests a block with an empty message once the bytes that it
 *    has requested fit a window: sends complete before their data has arrived, so without requests
 *    the other ranks would run ahead and flood the port of a rank that is late. If all blocks
 *    together fit a port's buffer, they are sent without a request.
 *
 * Steps: p - 1 turns. Bytes: (p - 1) m from every rank and to it; n (p - n) m over the uplink of a
 * rack with n ranks, in either direction: each block crosses once. Memory: two segments for each
 * round of the window, and for four more rounds.
 * Source: schedules by distance as in Faraj, Yuan: Message scheduling for all-to-all personalized
 * communication on Ethernet switched clusters; for uneven racks, and with segments, they are ours.
 */
#include "config.h"

#include "lib/alltoall/alltoall.h"
#include "lib/plan/plan.h"

enum { REQUESTS = 1 }; /* lane of the requests */

/* Blocks of at most this many bytes in total fit the buffer of any switch port. */
static const size_t UNASKED = 32 << 10;

/*
 * Default segments: shorter segments of different streams collide less at a port, but a segment
 * must occupy the link at least TIMES as long as the processor.
 */
enum { SEGMENT_LEAST = 4 << 10, SEGMENT_MOST = 32 << 10, TIMES = 8 };

/*
 * WINDOW: segments in flight to a rank, in addition to those that the link transfers during a round
 * trip. AHEAD: rounds in flight in addition to the rounds of WINDOW; so few that streams which
 * share an uplink fit its buffer.
 */
enum { WINDOW = 2, AHEAD = 4, ROUNDS_MOST = 256 };

/* A turn of this rank: the positions that it sends to and receives from, or NOBODY. */
enum { NOBODY = -1 };
typedef struct turn {
    int to, from;
    uint64_t first; /* first round of the turn, which has one round for each segment of the longer
                       block */
} turn;

typedef struct pairwise_plan {
    coll_plan base;
    /* most bytes in flight to this rank, unless blocks are sent without a request */
    size_t under_way;
    /* number of racks, if all have equal size and all blocks have equal length; else 0 */
    int even_racks;
    uint64_t segments; /* segments of a block, if EVEN_RACKS */
    int turns;         /* number of turns listed in TURN, if not EVEN_RACKS */
    turn turn[];
} pairwise_plan;

/* --- Which rank sends to which --- */

/* Return the bytes of the block to POSITION, or from it. */
static size_t bytes_to(const coll_plan_args *args, int position) {
    return position == NOBODY ? 0 : coll_plan_args_block(args, args->input, position);
}

static size_t bytes_from(const coll_plan_args *args, int position) {
    return position == NOBODY ? 0 : coll_plan_args_block(args, args->blocks, position);
}

/* Scratch memory for listing turns, one element for each position and slot. */
typedef struct seat {
    int wanted; /* the slot that this position prefers, so that its rack is spread evenly */
    int before; /* number of positions that prefer an earlier slot */
    int sender; /* the position that has this slot */
} seat;

/* Gives each position a slot; positions that prefer the same slot keep the order of the line. */
static void assign_slots(const coll_plan_args *args, seat seats[]) {
    const int ranks = args->shape->topo->ranks;
    for (int i = 0; i < ranks; i++)
        seats[i] = (seat){.before = 0};
    for (int begin = 0, count; begin < ranks; begin += count) {
        count = coll_plan_args_ranks(args, begin, COLL_UNIT_RACK);
        for (int i = 0; i < count; i++) {
            const int64_t halves = 2 * (int64_t)i + 1;
            seats[begin + i].wanted = (int)(halves * ranks / (2 * count));
            seats[seats[begin + i].wanted].before++;
        }
    }
    for (int i = 0, before = 0, here; i < ranks; i++, before += here) {
        here = seats[i].before;
        seats[i].before = before;
    }
    for (int i = 0; i < ranks; i++)
        seats[seats[seats[i].wanted].before++].sender = i;
}

/*
 * Lists this rank's turns in order, without the turn with itself and without turns in which both
 * blocks are empty. Returns their number.
 */
static int find_turns(const coll_plan_args *args, seat seats[], turn turns[]) {
    const int ranks = args->shape->topo->ranks, own = args->line->position;
    int count = 0, slot = 0;
    assign_slots(args, seats);
    while (seats[slot].sender != own)
        slot++;
    for (int i = 0; i < ranks; i++) {
        const int to = (slot + i) % ranks, from = seats[(own - i + ranks) % ranks].sender;
        if (to == own)
            continue;
        turns[count] = (turn){.to = bytes_to(args, to) ? to : NOBODY,
                              .from = bytes_from(args, from) ? from : NOBODY};
        count += turns[count].to != NOBODY || turns[count].from != NOBODY;
    }
    return count;
}

static bool is_even(const coll_blocks *blocks) {
    return blocks && coll_blocks_even(blocks) && coll_blocks_bytes(blocks, 0) > 0;
}

/*
 * Returns the number of racks if all have equal size and all blocks have equal length; else 0.
 * Every rank then has the same number of turns, one of them with itself, which need not be listed.
 */
static int count_even_racks(const coll_plan_args *args) {
    const coll_topo *topo = args->shape->topo;
    const int places = topo->ranks / topo->racks;
    if (places * topo->racks != topo->ranks || !is_even(args->input) || !is_even(args->blocks))
        return 0;
    for (int i = 1; i < topo->ranks; i++)
        if (coll_plan_args_begins(args, i, COLL_UNIT_RACK) != (i % places == 0))
            return 0;
    return topo->racks;
}

/* --- Lengths --- */

/* Returns the bytes of a segment of long blocks. */
static size_t segment_of(const coll_plan_args *args) {
    const coll_cost *link = coll_profile_outermost(args->shape->profile, args->shape->topo);
    size_t segment = args->values->at[COLL_SEGMENT],
           rounds = coll_least(args->values->at[COLL_WINDOW] + AHEAD, ROUNDS_MOST);
    if (segment > 0 && args->shape->bytes == COLL_BYTES_UNKNOWN)
        return coll_segment_within(args->shape, segment, 2 * rounds);
    if (segment > 0)
        return segment;
    for (segment = SEGMENT_LEAST; segment < SEGMENT_MOST; segment *= 2)
        if (coll_cost_send_gap(link, (double)segment) >=
            TIMES * coll_cost_send_overhead(link, (double)segment))
            break;
    return segment;
}

/* Returns the most segments that a rank has requested and not received. */
static size_t window_of(const coll_plan_args *args) {
    const coll_cost *link = coll_profile_outermost(args->shape->profile, args->shape->topo);
    const size_t wanted = args->values->at[COLL_WINDOW];
    if (wanted > 0)
        return wanted;
    const double there_and_back = 2 * coll_cost_transfer(link, 0),
                 gap = coll_cost_send_gap(link, (double)segment_of(args));
    return there_and_back < ROUNDS_MOST * gap ? WINDOW + (size_t)(there_and_back / gap)
                                              : ROUNDS_MOST;
}

/* --- The plan --- */

/*
 * Returns turn NTH if all racks have equal size: turn (places, further) in the notation (s, e) of
 * the head of this file.
 */
static turn even_turn(const pairwise_plan *plan, uint64_t nth) {
    const int own = plan->base.args->line->position, racks = plan->even_racks,
              longest = plan->base.args->shape->topo->ranks / racks,
              places = (int)(nth / (uint64_t)racks), further = (int)(nth % (uint64_t)racks),
              rack = own / longest, place = own % longest,
              before = (place - places + longest) % longest,
              to = (rack + further + place) % racks * longest + (place + places) % longest,
              from = (rack - (further + before) % racks + racks) % racks * longest + before;
    return (turn){.to = to == own ? NOBODY : to,
                  .from = from == own ? NOBODY : from,
                  .first = nth * plan->segments};
}

static bool is_requested(const pairwise_plan *plan, size_t bytes) {
    return bytes > UNASKED / (size_t)plan->base.args->shape->topo->ranks;
}

static turn find_turn(const pairwise_plan *plan, uint64_t round) {
    if (plan->even_racks)
        return even_turn(plan, round / plan->segments);
    int low = 0, high = plan->turns - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (plan->turn[middle + 1].first > round)
            high = middle;
        else
            low = middle + 1;
    }
    return plan->turn[low];
}

/* Returns the bytes that ROUND receives, in its first step. */
static size_t received_bytes(const pairwise_plan *plan, uint64_t round) {
    const turn now = find_turn(plan, round);
    uint64_t i = round - now.first;
    size_t bytes = bytes_from(plan->base.args, now.from), segment = plan->base.size.segment;
    return i * segment < bytes ? coll_segment_length(bytes, segment, i) : 0;
}

/*
 * Delays the request of ROUND until all data in flight, including the data of ROUND, fits the
 * window.
 */
static void delay_request(const pairwise_plan *plan, uint64_t round, coll_step *request) {
    size_t under_way = received_bytes(plan, round), most = plan->under_way;
    for (int back = 1; back < plan->base.size.window && (uint64_t)back <= round; back++) {
        size_t bytes = received_bytes(plan, round - (uint64_t)back);
        under_way += bytes;
        if (bytes > 0 && under_way > most) {
            coll_step_pace(request, back, 0);
            return;
        }
    }
}

static coll_step request_message(int peer, coll_step_kind kind) {
    coll_step step = coll_step_message(kind, peer, 0, 0);
    step.lane = REQUESTS;
    return step;
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const pairwise_plan *plan = (const pairwise_plan *)base;
    const int *order = plan->base.args->line->order;
    const turn now = find_turn(plan, round);
    uint64_t i = round - now.first;
    size_t segment = base->size.segment, from = (size_t)i * segment,
           in = bytes_from(plan->base.args, now.from), out = bytes_to(plan->base.args, now.to);
    int count = 0;
    if (from < in) {
        steps[count] =
            coll_step_receive(order[now.from], from, coll_segment_length(in, segment, i));
        steps[count++].block = now.from;
    }
    if (from < in && from == 0 && is_requested(plan, in)) {
        steps[count] = request_message(order[now.from], COLL_STEP_SEND);
        delay_request(plan, round, &steps[count++]);
    }
    if (from < out) {
        bool requested = from == 0 && is_requested(plan, out);
        if (requested)
            steps[count++] = request_message(order[now.to], COLL_STEP_RECEIVE);
        coll_step *step = &steps[count++];
        *step = coll_step_send(order[now.to], from, coll_segment_length(out, segment, i));
        step->buffer = COLL_INPUT;
        step->block = now.to;
        step->segment = 1;
        if (requested)
            coll_step_pace(step, 0, count - 2);
    }
    return count;
}

/* A round receives and sends at most one segment, with one request in each direction. */
static coll_plan_size plan_size(const coll_plan_args *args) {
    const size_t ranks = (size_t)args->shape->topo->ranks,
                 listed = ranks * (sizeof(turn) + sizeof(seat));
    return (coll_plan_size){.window = (int)coll_least(window_of(args) + AHEAD, ROUNDS_MOST),
                            .steps = 4,
                            .segments = 2,
                            .segment = coll_least(segment_of(args), args->shape->bytes),
                            .own_bytes =
                                sizeof(pairwise_plan) + (count_even_racks(args) ? 0 : listed)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    pairwise_plan *plan = memory;
    size_t ranks = (size_t)args->shape->topo->ranks;
    *plan = (pairwise_plan){.base = coll_plan_of(args, size, 0, plan_round)};
    plan->under_way = window_of(args) * segment_of(args);
    plan->even_racks = count_even_racks(args);
    plan->segments = coll_segment_count(args->shape->bytes, size.segment);
    if (plan->even_racks) {
        plan->base.rounds = ranks * plan->segments;
        return &plan->base;
    }
    plan->turns = find_turns(args, (seat *)(plan->turn + ranks), plan->turn);
    for (int i = 0; i < plan->turns; i++) {
        turn *now = &plan->turn[i];
        uint64_t in = coll_segment_count(bytes_from(args, now->from), size.segment),
                 out = coll_segment_count(bytes_to(args, now->to), size.segment);
        now->first = plan->base.rounds;
        plan->base.rounds += in > out ? in : out;
    }
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
