/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halving: pairs of ranks halve the data and gather the sums again; for large data that must be
 * combined in the same way as recursive doubling combines small data.
 *
 * Ranks pair up as in recursive doubling, at first the nearest ones, with the same tree of
 * combinations. But a rank sends one half of its range to its peer, adds to the other half the data
 * that it receives, and continues with that half; in the end each rank has the sums of an equal
 * part. On the way back the pairs come in reverse order, and each rank gets back the half that it
 * sent. If the number of ranks is no power of two, the first ranks form pairs; one rank of a pair
 * sends all its data to the other rank. Data moves in chunks, one round each, whose halves stay
 * below transports' eager limit: two longer messages in opposite directions take turns on a TCP
 * connection of Open MPI.
 *
 * Steps: 2 floor(log2 p), and 2 more if p is no power of two. Bytes: 2 m from every rank and to it;
 * in a pair, m for the rank that sends all its data, and 3 m for the other; over an uplink up to
 * all that the rack's ranks send, but only about 2 m if all racks have the same power of two of
 * ranks. Memory: six chunks for each round of the window.
 * Source: Rabenseifner: Optimization of collective reduction operations, ICCS 2004; there the
 * farthest ranks pair up first.
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/allreduce/trees.h"
#include "lib/pattern/binomial.h"
#include "lib/plan/tuned.h"

enum { NONE = -1 };
/*
 * Segments of a round's memory: for received sums, and for data with gaps that is sent or received.
 */
enum { HALVES, GIVEN, TAKEN_BACK, PASSED_ON, FROM_PAIRED, TO_PAIRED, SEGMENTS };

/* Parts FIRST to END - 1 of a chunk, which has as many parts as ranks take part. */
typedef struct half {
    int first, end;
} half;

/* A round being written. */
typedef struct draft {
    const coll_trees *plan;
    coll_step *steps;
    int count, lane;
    int latest; /* the last step that changed this rank's data, or NONE */
    /* the last step that forwarded results, or NONE; it depends on the earlier such steps */
    int passed;
    size_t begin, length;     /* the chunk */
    size_t halves, passed_on; /* bytes used so far in segments HALVES and PASSED_ON */
} draft;

/* Makes STEP depend on EARLIER, unless one of them is NONE. */
static void add_dependency(draft *d, int step, int earlier) {
    if (step != NONE)
        coll_step_after(&d->steps[step], 0, earlier);
}

static size_t start_of(const draft *d, int part) {
    return coll_share_start(d->plan->base.args->shape, d->length, 1 << d->plan->peers, part);
}

static size_t bytes_of(const draft *d, half range) {
    return start_of(d, range.end) - start_of(d, range.first);
}

/*
 * Adds a message of RANGE to or from PEER, unless RANGE is empty; returns the index of its step, or
 * NONE.
 */
static int add_message(draft *d, bool send, int peer, half range, int segment, size_t at) {
    size_t from = d->begin + start_of(d, range.first), length = bytes_of(d, range);
    if (length == 0)
        return NONE;
    coll_step *step = &d->steps[d->count];
    *step = send ? coll_step_send(peer, from, length) : coll_step_receive(peer, from, length);
    step->lane = d->lane;
    step->segment = segment;
    step->at = at;
    return d->count++;
}

/*
 * Adds the steps that receive RANGE from PEER, which is BEFORE or behind this rank, and combine it
 * with this rank's data.
 */
static void receive_and_combine(draft *d, int peer, half range, bool before, int segment,
                                size_t at) {
    int arrival = add_message(d, false, peer, range, segment, at);
    if (arrival == NONE)
        return;
    d->steps[arrival].buffer = COLL_SCRATCH;
    coll_step *sum = &d->steps[d->count];
    *sum = coll_step_combine(COLL_DATA, d->steps[arrival].from, bytes_of(d, range), false, before);
    sum->segment = segment;
    sum->at = at;
    add_dependency(d, d->count, arrival);
    add_dependency(d, d->count, d->latest);
    d->latest = d->count++;
}

/*
 * Adds the steps of a paired rank that sends its data to the other rank of the pair and receives
 * the results.
 */
static void defer_to_parent(draft *d, half whole) {
    int gave = add_message(d, true, d->plan->parent, whole, FROM_PAIRED, 0);
    d->lane = COLL_LANE_RESULTS;
    add_dependency(d, add_message(d, false, d->plan->parent, whole, TO_PAIRED, 0), gave);
}

/*
 * Adds the exchanges with all peers. Sets GIVEN and GAVE to the range sent to each peer and the
 * step that sends it. Returns the range that is left.
 */
static half exchange_halves(draft *d, half range, half given[], int gave[]) {
    for (int i = 0; i < d->plan->peers; i++) {
        int middle = (range.first + range.end) / 2;
        half lower = {range.first, middle}, upper = {middle, range.end};
        bool before = d->plan->before[i];
        given[i] = before ? lower : upper;
        range = before ? upper : lower;
        gave[i] =
            add_message(d, true, d->plan->peer[i], given[i], GIVEN, start_of(d, given[i].first));
        add_dependency(d, gave[i], d->latest);
        receive_and_combine(d, d->plan->peer[i], range, before, HALVES, d->halves);
        d->halves += bytes_of(d, range);
    }
    return range;
}

/* Adds the step that sends RANGE to PEER once its results are complete. */
static void send_results(draft *d, int peer, half range, int segment, size_t at) {
    int step = add_message(d, true, peer, range, segment, at);
    add_dependency(d, step, d->latest);
    add_dependency(d, step, d->passed);
    d->passed = step;
}

/* Adds the steps of the way back; RANGE is the part of the results that this rank has. */
static void gather_results(draft *d, half range, const half given[], const int gave[]) {
    d->lane = COLL_LANE_RESULTS;
    for (int i = d->plan->peers; i-- > 0;) {
        int peer = d->plan->peer[i];
        send_results(d, peer, range, PASSED_ON, d->passed_on);
        d->passed_on += bytes_of(d, range);
        int taken = add_message(d, false, peer, given[i], TAKEN_BACK, start_of(d, given[i].first));
        add_dependency(d, taken, gave[i]);
        d->latest = taken == NONE ? d->latest : taken;
        range = d->plan->before[i] ? (half){given[i].first, range.end}
                                   : (half){range.first, given[i].end};
    }
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_trees *plan = (const coll_trees *)base;
    size_t segment = base->size.segment;
    half whole = {0, 1 << plan->peers}, given[COLL_TREES_PEERS];
    int gave[COLL_TREES_PEERS];
    draft d = {.plan = plan,
               .steps = steps,
               .latest = NONE,
               .passed = NONE,
               .begin = (size_t)round * segment,
               .length = coll_segment_length(plan->base.args->shape->bytes, segment, round)};
    if (plan->parent >= 0) {
        defer_to_parent(&d, whole);
        return d.count;
    }
    if (plan->children)
        receive_and_combine(&d, plan->child[0], whole, false, FROM_PAIRED, 0);
    gather_results(&d, exchange_halves(&d, whole, given, gave), given, gave);
    if (plan->children)
        send_results(&d, plan->child[0], whole, TO_PAIRED, 0);
    return d.count;
}

/*
 * Each peer takes a send, a receive and a combination, and on the way back a send and a receive.
 * Each chunk, except perhaps the last one, has the same number of elements for each part.
 */
static coll_plan_size plan_size(const coll_plan_args *args) {
    const coll_shape *shape = args->shape;
    size_t chunk = coll_chunk_of(args, shape->element << coll_tree_depth(shape->topo->ranks)),
           window = coll_window_asked(args, 2 * chunk, 2 * coll_tree_depth(shape->topo->nodes),
                                      SEGMENTS * chunk);
    return (coll_plan_size){.window =
                                (int)coll_least(window, coll_segment_count(shape->bytes, chunk)),
                            .steps = 5 * coll_tree_depth(shape->topo->ranks) + 3,
                            .segments = SEGMENTS,
                            .segment = chunk,
                            .own_bytes = sizeof(coll_trees)};
}

static coll_plan *make_plan(const coll_plan_args *args, coll_plan_size size, void *memory) {
    coll_trees *plan = coll_trees_open(args, size, memory);
    coll_trees_double(plan, COLL_UNIT_RANK);
    plan->base.round = plan_round;
    return &plan->base;
}

const coll_algorithm coll_allreduce_halving = {
    .name = "halving",
    .summary = "pairs of ranks halve the data, sum it up, and gather it again",
    .params = {COLL_PARAM_SEGMENT("most bytes of a chunk, which is halved", 64 << 10),
               COLL_PARAM_WINDOW("chunks in flight; 0: by the cost model", 0)},
    .reproducible = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
