/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * credit: the root grants its bandwidth, segment by segment, so that no switch buffer overflows.
 *
 * 1. The root asks the ranks for their blocks in chain order (node by node, rack by rack) and posts
 *    the receives as it asks. The bytes that were asked for and have not arrived are at most a
 *    window, which fits the buffer of the switch port: whatever the senders do, nothing is dropped.
 * 2. While all bytes of the window come from one rank, the window may grow to a "run": the rank's
 *    own link limits its rate, and its stream needs no further grants. The root asks the next rank
 *    as soon as the rest of the stream fits the window, so the link to the root stays full.
 * 3. To avoid waiting for the first grant, the first ranks send unasked, as much as the buffer
 *    holds in addition to the window. Blocks that fit there completely are never asked for.
 * 4. If a rack's uplink is slower than the root's link, the root asks several racks at a time, in
 *    smaller segments: as many racks as fill the root's link, first the racks with the most bytes
 *    left, so that all end together. The racks share the window.
 * 5. A window that fits the buffer fills the link only while round trips are short. So each arrival
 *    lets the window grow by half of its bytes, until it also covers a round trip at the link's
 *    rate. What arrives in a round trip is then at most half as much again as the link carries, so
 *    a third of the window waits in the buffer.
 * 6. A stream that stalls has lost a packet: the root's next gathers on this communicator use half
 *    of the window, and then gradually more again.
 *
 * In Tam and Wang's algorithm the window counts senders, and a sender passes its turn on when its
 * send returns. Over TCP a send returns once its data is in the socket's buffer. The signal to the
 * next sender then overtakes the data, so the window limits nothing. This algorithm counts the
 * bytes that have arrived.
 *
 * Cost: T = C1 + (p - 1) m D + C2 (eq. 8): the first bytes arrive, then the link to the root is
 * full, then the last segment is received.
 * Source: Tam and Wang, section 5; the credits are ours.
 */
#include "config.h"

#include "lib/gather/gather.h"
#include "lib/gather/intake.h"
#include "lib/plan/plan.h"

#include <math.h>

enum { RUN = COLL_WINDOW + 1, LANES };

/* Costs of links that differ by less than this share count as equal. */
static const double UNEVEN = 0.2;

/*
 * Usable share of the switch buffer: headers take a twentieth, and a tenth is for other traffic,
 * mostly acknowledgements.
 */
static const double BUFFER_SHARE = 0.85;

/*
 * The window's share of the usable buffer. The rest is for what ranks send unasked: a rank that has
 * finished one gather may begin the next while the root still receives the first.
 */
static const double WINDOW_SHARE = 0.6;

/* Seconds: TCP retransmits a segment that waits much longer than this in a queue. */
static const double LONGEST_QUEUE = 4e-3;

static const size_t SEGMENT_MOST = 16 << 10, SEGMENT_LEAST = 1 << 10;

/*
 * Upper limit of the window and of the run, in bytes, if only the root knows the block sizes. All
 * ranks then reserve the same memory, enough for this limit. The limit is enough to fill any
 * network.
 */
static const size_t UNKNOWN_MOST = 16 << 20;

/*
 * Returns how many racks' uplinks fill the root's link; 1 between sites, where latency is the limit
 * rather than the link.
 */
static int lanes_of(const coll_shape *call) {
    if (call->topo->racks < 2 || call->topo->sites > 1)
        return 1;
    double inside = coll_cost_receive_gap(&call->profile->level[COLL_LEVEL_RACK], SEGMENT_MOST),
           across = coll_cost_receive_gap(&call->profile->level[COLL_LEVEL_SITE], SEGMENT_MOST);
    return (int)fmax(1, fmin(ceil(across / inside - UNEVEN), call->topo->racks));
}

/* Returns the seconds between a grant and the first bytes that it allows. */
static double round_trip_seconds(const coll_cost *link) {
    return 2 * coll_cost_message(link, 0);
}

static coll_credit credit_of(const coll_shape *call, const coll_values *values) {
    const coll_cost *link = coll_profile_outermost(call->profile, call->topo);
    int lanes = values->at[LANES] ? (int)values->at[LANES] : lanes_of(call);
    double usable = coll_gather_buffer(call) * BUFFER_SHARE;
    double per_byte = coll_cost_receive_gap(link, SEGMENT_MOST) / SEGMENT_MOST;
    double window = fmin(usable * WINDOW_SHARE, lanes * LONGEST_QUEUE / per_byte);
    if (values->at[COLL_WINDOW])
        window = (double)values->at[COLL_WINDOW];
    double segment = fmax(fmin(window / (2 * lanes), SEGMENT_MOST), SEGMENT_LEAST);
    double wide = values->at[COLL_WINDOW] ? window : window + round_trip_seconds(link) / per_byte;
    size_t most = coll_gather_is_even(call) ? SIZE_MAX : UNKNOWN_MOST;
    return (coll_credit){
        .segment = coll_least(values->at[COLL_SEGMENT] ? values->at[COLL_SEGMENT] : (size_t)segment,
                              most / COLL_SUPPLY_SENDS),
        .window = coll_least((size_t)window, most),
        .wide = coll_least((size_t)wide, most),
        .run = coll_least(values->at[RUN], most),
        .unasked = (size_t)fmin(window, usable * (1 - WINDOW_SHARE)),
        .lanes = lanes,
    };
}

/*
 * Returns the seconds for which the root's link is idle because the root must grant: each round
 * trip grants at most the window or the part of a block that fits in a run, whichever is more.
 */
static double grant_seconds(const coll_shape *call, const coll_credit *credit) {
    const coll_cost *link = coll_profile_outermost(coll_shape_costs(call), call->topo);
    const double all = (double)call->bytes * (call->topo->ranks - 1),
                 run = (double)coll_least(call->bytes, credit->run),
                 wide = fmax((double)credit->wide, run), round_trip = round_trip_seconds(link);
    double asked = fmax(all - (double)credit->unasked, 0), seconds = 0;
    double window = fmax((double)credit->window, run);
    while (asked > window && window < wide) { /* the window grows */
        seconds += fmax(round_trip - window * link->per_byte, 0);
        asked -= window;
        window = fmin(window * (1 + COLL_CREDIT_GROWTH), wide);
    }
    return seconds + asked / window * fmax(round_trip - window * link->per_byte, 0);
}

static double predict_seconds(const coll_shape *call, const coll_values *values) {
    coll_credit credit = credit_of(call, values);
    return coll_gather_seconds(call, ceil((double)call->bytes / (double)credit.segment)) +
           grant_seconds(call, &credit);
}

static size_t memory_bytes(const coll_exec_args *call) {
    coll_credit credit = credit_of(call->args.shape, call->args.values);
    return coll_intake_bytes(call, &credit);
}

static coll_task *open_task(const coll_exec_args *call, void *memory) {
    coll_credit credit = credit_of(call->args.shape, call->args.values);
    return call->args.blocks ? coll_intake_open(call, &credit, memory)
                             : coll_supply_open(call, &credit, memory);
}

const coll_algorithm coll_gather_credit = {
    .name = "credit",
    .summary = "the root asks rank by rank for as many bytes as the switch can buffer",
    .params = {COLL_PARAM_SEGMENT(COLL_MESSAGE_BYTES "; 0: by the window", 0),
               [COLL_WINDOW] = {"window", "bytes in flight; 0: by the cost model", .fallback = 0,
                                .lowest = 0, .highest = UINT64_C(1) << 40},
               [RUN] = {"run", "bytes in flight while one rank alone sends", .fallback = 1 << 20,
                        .lowest = 1, .highest = UINT64_C(1) << 40},
               [LANES] = {"lanes",
                          "racks that are asked at a time; 0: as many as it takes to fill "
                          "the root's link",
                          .fallback = 0, .lowest = 0, .highest = 1024}},
    .sizeless = true,
    .predict = predict_seconds,
    .bytes = memory_bytes,
    .open = open_task,
};
