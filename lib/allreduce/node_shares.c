/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_shares: each node sums up a share of the data, and all ranks of a node exchange with other
 * nodes at the same time; for many ranks per node.
 *
 * The data is divided in a share for each node. The ranks of a node divide the shares of the other
 * nodes among themselves: each rank serves one other node, or several. If every node has several
 * ranks for each other node, these ranks divide that node's share (lib/plan/node_pairs.h).
 *
 * 1. Reduce-scatter inside: each rank gets the node's sums of the shares of the nodes that it
 *    serves. First each half of the node's ranks sends the other half its contributions for the
 *    shares that the other half serves; then the two quarters of each half do the same, and so on.
 * 2. Each rank sends these sums to the nodes that it serves. It receives sums from these nodes, and
 *    adds them to its own contribution to its node's share.
 * 3. Allreduce inside, of the node's share, by recursive doubling: the share is then complete.
 * 4. Each rank sends this share to the nodes that it serves, and receives their shares.
 * 5. Allgather inside: the exchanges of the first step in reverse.
 *
 * Data moves in segments, one round each, so that exchanges of one segment inside nodes overlap
 * with exchanges of other segments between nodes.
 *
 * Steps: 2 (N - 1) / P messages to other nodes from every rank, and 3 ceil(log2 P) inside, for N
 * nodes of P ranks. Bytes: 2 m (N - 1) / N from every node and to it, which is the least; inside,
 * 2 m from every rank, and ceil(log2 P) shares; over an uplink 2 m (N - n) / N for each of a rack's
 * n nodes. Memory: about six segments for each round of the window, and a few shares of a segment.
 * Source: after Traff, Hunold: Decomposing MPI collectives for exploiting multi-lane communication,
 * CLUSTER 2020, where the ranks at the same place of all nodes exchange; here a node's ranks divide
 * the other nodes among themselves.
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/pattern/binomial.h"
#include "lib/plan/node_pairs.h"
#include "lib/plan/tuned.h"

/*
 * The lane of the allreduce inside nodes. On the lane of another exchange between the same ranks it
 * would have to wait for that exchange in the round before, so that rounds would hardly overlap.
 */
enum { LANE_SHARES = COLL_LANE_RESULTS + 1 };

enum { NONE = -1 };
enum { CUTS_MOST = 31 }; /* most times that a node's ranks are halved until one rank is alone */
enum { RANGES = 2 };     /* most ranges of the data that a run of ranks serves */

typedef struct shares_plan {
    coll_plan base;
    coll_node_pairs pairs;
    int cuts; /* how often the node's ranks are halved until this rank is alone */
    size_t segment;
} shares_plan;

/*
 * A round being written. Its memory begins with two areas, each of the length of the round's
 * segment. Messages of data with gaps are packed there: sums that are sent in the first area,
 * results that are received in the second. Behind these areas are the sums that are received, and
 * the results that are sent, one after the other.
 */
typedef struct draft {
    const shares_plan *plan;
    coll_step *steps;
    int count, lane;
    int changed; /* the last step that changed the data; NONE: none yet */
    coll_range what;
    size_t at; /* bytes of the memory used so far */
    /* for each cut, the steps that sent the ranges whose results this rank receives at the end; or
     * NONE */
    int given[CUTS_MOST][RANGES];
} draft;

enum { SUMS, RESULTS, AREAS };

/* --- Messages --- */

/* Returns piece NTH of the segment. The pieces are the parts of all shares, in the order of the
 * nodes. */
static coll_range piece_at(const draft *d, int nth) {
    const coll_node_pairs *pairs = &d->plan->pairs;
    coll_range piece =
        coll_share(d->plan->base.args->shape, d->what.length, pairs->nodes * pairs->parts, nth);
    piece.from += d->what.from;
    return piece;
}

/* Returns the range of the COUNT pieces from FIRST on. */
static coll_range pieces_at(const draft *d, int first, int count) {
    const size_t from = piece_at(d, first).from;
    const coll_range last = piece_at(d, first + count - 1);
    return (coll_range){from, last.from + last.length - from};
}

/* Sets RANGES to the pieces that the ranks at PLACES of the node serve. These pieces may continue
 * at the beginning of the segment, which makes two ranges. Returns the number of ranges that are
 * not empty. */
static int served_by(const draft *d, coll_run places, coll_range ranges[]) {
    const coll_node_pairs *pairs = &d->plan->pairs;
    const coll_run last = coll_node_pairs_of(pairs, places.first + places.count - 1);
    const int all = pairs->nodes * pairs->parts,
              begin = coll_node_pairs_of(pairs, places.first).first,
              count = last.first + last.count - begin,
              first = ((pairs->node + 1) * pairs->parts + begin) % all,
              here = first + count > all ? all - first : count;
    int found = 0;
    if (here > 0)
        ranges[found] = pieces_at(d, first, here);
    found += here > 0 && ranges[found].length > 0;
    if (count > here)
        ranges[found] = pieces_at(d, 0, count - here);
    return found + (count > here && ranges[found].length > 0);
}

/* Adds a message of RANGE, which is packed at AT if it has gaps. Returns its step. */
static int add_message(draft *d, coll_step_kind kind, int rank, coll_range range, size_t at) {
    coll_step *message = &d->steps[d->count];
    *message = coll_step_message(kind, rank, range.from, range.length);
    message->lane = d->lane;
    message->at = at;
    return d->count++;
}

/* Returns the offset in the round's memory of RANGE in AREA. */
static size_t in_area(const draft *d, int area, coll_range range) {
    return (size_t)area * d->what.length + range.from - d->what.from;
}

/* Adds a send of RANGE, after the last step so far that changes the data. Returns its step. */
static int send_data(draft *d, int rank, coll_range range, size_t at) {
    const int sent = add_message(d, COLL_STEP_SEND, rank, range, at);
    if (range.length > 0)
        coll_step_after(&d->steps[sent], 0, d->changed);
    return sent;
}

/*
 * Adds the receive of RANGE and its combination with the data; BEFORE: the received operand is the
 * first one. The combination depends on SENDS, COUNT steps that send RANGE as it was before; if
 * COUNT is 0, on the last step that changed the data.
 */
static void receive_and_combine(draft *d, int rank, coll_range range, bool before,
                                const int sends[], int count) {
    const int arrival = add_message(d, COLL_STEP_RECEIVE, rank, range, d->at);
    d->steps[arrival].buffer = COLL_SCRATCH;
    if (range.length == 0)
        return;
    coll_step *sum = &d->steps[d->count];
    *sum = coll_step_combine(COLL_DATA, range.from, range.length, false, before);
    sum->at = d->at;
    d->at += range.length;
    coll_step_after(sum, 0, arrival);
    for (int i = 0; i < count; i++)
        coll_step_after(sum, 0, sends[i]);
    if (count == 0)
        coll_step_after(sum, 0, d->changed);
    d->changed = d->count++;
}

static int rank_at(const draft *d, int place) {
    const coll_node_pairs *pairs = &d->plan->pairs;
    return pairs->order[coll_node_pairs_position(pairs, place)];
}

/* A cut of the node's ranks, and this rank's index in its run. */
typedef struct halves {
    coll_run own, other;
    int index;
} halves;

static halves halves_at(const draft *d, int depth) {
    const coll_node_pairs *pairs = &d->plan->pairs;
    const coll_cut cut = coll_cut_at(pairs->ranks, 2, pairs->place, depth);
    const coll_run own = coll_cut_run(&cut, cut.own);
    return (halves){
        .own = own, .other = coll_cut_run(&cut, 1 - cut.own), .index = pairs->place - own.first};
}

/* --- Steps of the head comment --- */

/* A rank sends its contributions for the other half to one rank of that half, so that each
 * contribution counts once.
 */
static void reduce_scatter_inside(draft *d) {
    for (int depth = 0; depth < d->plan->cuts; depth++) {
        const halves cut = halves_at(d, depth);
        coll_range ranges[RANGES];
        const int to = rank_at(d, cut.other.first + cut.index % cut.other.count),
                  sent = served_by(d, cut.other, ranges);
        for (int i = 0; i < RANGES; i++)
            d->given[depth][i] =
                i < sent ? send_data(d, to, ranges[i], in_area(d, SUMS, ranges[i])) : NONE;
        const int received = served_by(d, cut.own, ranges);
        for (int from = cut.index; from < cut.other.count; from += cut.own.count)
            for (int i = 0; i < received; i++)
                receive_and_combine(d, rank_at(d, cut.other.first + from), ranges[i], false, NULL,
                                    0);
    }
}

/* Returns the piece of a node's share that this rank exchanges with PAIR: of its own node's share
 * if OWN, else of the other node's. */
static coll_range piece_with(const draft *d, const coll_node_pair *pair, bool own) {
    const coll_node_pairs *pairs = &d->plan->pairs;
    return piece_at(d, (own ? pairs->node : pair->other) * pairs->parts + pair->part);
}

/* Adds the exchange of sums with other nodes. Returns the index of the first step that sends sums;
 * there is one such step for each message of this rank. */
static int exchange_sums(draft *d) {
    const coll_node_pairs *pairs = &d->plan->pairs;
    const coll_run numbers = coll_node_pairs_of(pairs, pairs->place);
    const int first = d->count;
    for (int i = 0; i < numbers.count; i++) {
        const coll_node_pair pair = coll_node_pairs_at(pairs, numbers.first + i);
        const coll_range piece = piece_with(d, &pair, false);
        send_data(d, pair.rank, piece, in_area(d, SUMS, piece));
    }
    for (int i = 0; i < numbers.count; i++) {
        const coll_node_pair pair = coll_node_pairs_at(pairs, numbers.first + i);
        receive_and_combine(d, pair.rank, piece_with(d, &pair, true), false, NULL, 0);
    }
    return first;
}

static void allreduce_inside(draft *d) {
    const coll_node_pairs *pairs = &d->plan->pairs;
    const coll_range share = pieces_at(d, pairs->node * pairs->parts, pairs->parts);
    for (int depth = d->plan->cuts - 1; depth >= 0 && share.length > 0; depth--) {
        const halves cut = halves_at(d, depth);
        int sends[2], count = 0;
        for (int to = cut.index; to < cut.other.count; to += cut.own.count)
            sends[count++] =
                send_data(d, rank_at(d, cut.other.first + to), share, in_area(d, SUMS, share));
        receive_and_combine(d, rank_at(d, cut.other.first + cut.index % cut.other.count), share,
                            cut.other.first < cut.own.first, sends, count);
    }
}

/* Sends pieces of the node's share, and receives pieces of other nodes' shares in place of the sums
 * that step SENT and the following ones have sent. */
static void exchange_results(draft *d, int sent) {
    const coll_node_pairs *pairs = &d->plan->pairs;
    const coll_run numbers = coll_node_pairs_of(pairs, pairs->place);
    for (int i = 0; i < numbers.count; i++) {
        const coll_node_pair pair = coll_node_pairs_at(pairs, numbers.first + i);
        const coll_range own = piece_with(d, &pair, true), other = piece_with(d, &pair, false);
        send_data(d, pair.rank, own, d->at);
        d->at += own.length;
        const int received =
            add_message(d, COLL_STEP_RECEIVE, pair.rank, other, in_area(d, RESULTS, other));
        if (other.length > 0)
            coll_step_after(&d->steps[received], 0, sent + i);
    }
}

static void allgather_inside(draft *d) {
    for (int depth = d->plan->cuts - 1; depth >= 0; depth--) {
        const halves cut = halves_at(d, depth);
        coll_range ranges[RANGES];
        const int sent = served_by(d, cut.own, ranges);
        for (int i = 0; i < sent; i++) {
            for (int to = cut.index; to < cut.other.count; to += cut.own.count) {
                const int send = add_message(d, COLL_STEP_SEND, rank_at(d, cut.other.first + to),
                                             ranges[i], d->at);
                d->steps[send].after_earlier = true; /* after the receives of RANGES */
            }
            d->at += ranges[i].length;
        }
        const int from = rank_at(d, cut.other.first + cut.index % cut.other.count),
                  received = served_by(d, cut.other, ranges);
        for (int i = 0; i < received; i++) {
            const int receive =
                add_message(d, COLL_STEP_RECEIVE, from, ranges[i], in_area(d, RESULTS, ranges[i]));
            coll_step_after(&d->steps[receive], 0, d->given[depth][i]);
        }
    }
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const shares_plan *plan = (const shares_plan *)base;
    draft d = {.plan = plan,
               .steps = steps,
               .lane = COLL_LANE_SUMS,
               .changed = NONE,
               .what = coll_segment_at(base->args->shape->bytes, plan->segment, round)};
    d.at = AREAS * d.what.length;
    reduce_scatter_inside(&d);
    const int sent = exchange_sums(&d);
    d.lane = LANE_SHARES;
    allreduce_inside(&d);
    d.lane = COLL_LANE_RESULTS;
    exchange_results(&d, sent);
    allgather_inside(&d);
    return d.count;
}

/* --- Plans --- */

/*
 * Returns the bytes of a round's segment. The cost model's segments are made longer, if necessary:
 * - up to FITTING, so that all rounds fit the window, because a last few rounds would run alone;
 * - until a message between nodes has MESSAGE_LEAST bytes;
 * - until the rounds of a window keep a link busy for the time of a message.
 * At most MOST bytes, so that memory is bounded.
 */
static size_t segment_of(const coll_plan_args *args, const coll_node_pairs_extent *all) {
    enum { FITTING = 32 << 10, MESSAGE_LEAST = 1 << 10, MOST = 256 << 10 };
    const coll_shape *shape = args->shape;
    const coll_cost *link = coll_profile_outermost(shape->profile, shape->topo);
    if (args->values->at[COLL_SEGMENT] > 0)
        return coll_segment_given(args);
    const size_t window = (size_t)args->values->at[COLL_WINDOW],
                 fitting = coll_least((shape->bytes + window - 1) / window, FITTING),
                 messages = MESSAGE_LEAST * (size_t)(all->nodes * all->parts),
                 busy = (size_t)(link->latency / link->per_byte) / window;
    size_t segment = coll_segment_asked(args, 1);
    segment = fitting > segment ? fitting : segment;
    segment = messages > segment ? messages : segment;
    segment = busy > segment ? busy : segment;
    return coll_segment_even(shape, shape->bytes, coll_least(segment, MOST));
}

/* Maxima over the ranks of a node. */
typedef struct needs {
    int cuts, messages, pieces; /* pieces: of scratch memory */
} needs;

static needs needs_of(const coll_node_pairs_extent *all, int ranks) {
    const int pieces = (all->nodes - 1) * all->parts, each = (pieces + ranks - 1) / ranks;
    needs found = {.messages = each, .pieces = 2 * each};
    for (int places = (ranks + 1) / 2; found.cuts < coll_tree_depth(ranks);
         places = (places + 1) / 2, found.cuts++)
        found.pieces += 3 * (int)coll_least((size_t)pieces, (size_t)(places * each)) + all->parts;
    return found;
}

static coll_plan_size plan_size(const coll_plan_args *args) {
    const coll_node_pairs_extent all = coll_node_pairs_measure(args);
    const coll_shape *shape = args->shape;
    const size_t segment = segment_of(args, &all),
                 piece = coll_share(shape, segment, all.nodes * all.parts, 0).length;
    int steps = 0, pieces = 0;
    for (int position = 0, ranks; position < shape->topo->ranks; position += ranks) {
        ranks = coll_plan_args_ranks(args, position, COLL_UNIT_NODE);
        const needs node = needs_of(&all, ranks);
        const int node_steps = 20 * node.cuts + 5 * node.messages;
        steps = node_steps > steps ? node_steps : steps;
        pieces = node.pieces > pieces ? node.pieces : pieces;
    }
    return (coll_plan_size){.window = (int)coll_least(args->values->at[COLL_WINDOW],
                                                      coll_segment_count(shape->bytes, segment)),
                            .steps = steps,
                            .segments = 1,
                            .segment = AREAS * segment + (size_t)pieces * piece,
                            .own_bytes = sizeof(shares_plan) + all.bytes};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    const coll_node_pairs_extent all = coll_node_pairs_measure(args);
    shares_plan *plan = memory;
    plan->pairs = coll_node_pairs_open(args, plan + 1);
    plan->cuts = coll_cut_depth(plan->pairs.ranks, 2, plan->pairs.place);
    plan->segment = segment_of(args, &all);
    plan->base =
        coll_plan_of(args, size, coll_segment_count(args->shape->bytes, plan->segment), plan_round);
    return &plan->base;
}

static bool is_applicable(const coll_shape *call) {
    return coll_order_is_free(call) && coll_leaders_apply(call) &&
           call->topo->ranks > call->topo->nodes;
}

const coll_algorithm coll_allreduce_node_shares = {
    .name = "node_shares",
    .summary = "each node sums up a share; all its ranks exchange with other nodes at once",
    .params = {COLL_PARAM_SEGMENT("bytes of the data exchanged at a time; 0: by the cost model", 0),
               COLL_PARAM_WINDOW("segments in flight", 4)},
    .applicable = is_applicable,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
