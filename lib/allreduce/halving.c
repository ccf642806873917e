/*
 * halving: the ranks halve the data among them, and put the sums together again; for large data,
 * where it shall be summed up in the same way as small data is by recursive doubling.
 *
 * Ranks meet as in recursive doubling, at first the nearest ones, by the same tree of combinations.
 * But of what it has a rank gives one half to the one it meets, adds the other half that comes from
 * there, and goes on with that: in the end each has the sums of an equal part. On the way back they
 * meet in the reverse order, and each gets what it gave away. Where ranks are no power of two the
 * first ones go in pairs, one of which gives all to the other. Data go in chunks, a round each,
 * whose halves stay below transports' eager limit: two longer messages in opposite directions take
 * turns on a TCP connection of Open MPI.
 *
 * Steps: 2 floor(log2 p), and 2 where p is no power of two. Bytes: 2 m from every rank and to it,
 * another 2 m where it is one of a pair; over an uplink up to half of it for each of a rack's
 * ranks. Memory: six chunks for each of the window.
 * Source: Rabenseifner: Optimization of collective reduction operations, ICCS 2004; there the
 * farthest meet first.
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/allreduce/trees.h"
#include "lib/pattern/binomial.h"

enum { NONE = -1 };
/* Of a round's memory: where sums come to, and what data pass on their way where they have gaps. */
enum { HALVES, GIVEN, TAKEN_BACK, PASSED_ON, FROM_PAIRED, TO_PAIRED, SEGMENTS };

/* Parts FIRST to END - 1 of a chunk that is cut into as many as ranks meet. */
typedef struct half {
    int first, end;
} half;

/* A round as it is written. */
typedef struct draft {
    const coll_trees *plan;
    coll_step *steps;
    int count, lane;
    int latest;               /* the last step that changed what the rank has, or NONE */
    int passed;               /* the last step that passed it on, which came after earlier ones */
    size_t begin, length;     /* of the chunk */
    size_t halves, passed_on; /* bytes of these in the round's memory so far */
} draft;

/* STEP comes after EARLIER, if there are both. */
static void after(draft *d, int step, int earlier) {
    if (step != NONE && earlier != NONE)
        coll_step_after(&d->steps[step], 0, earlier);
}

static size_t start_of(const draft *d, int part) {
    return coll_share_start(d->plan->base.part->shape, d->length, 1 << d->plan->peers, part);
}

static size_t bytes_of(const draft *d, half range) {
    return start_of(d, range.end) - start_of(d, range.first);
}

/* Adds a message of RANGE to or from PEER, unless that is empty; returns which step it is. */
static int add(draft *d, bool send, int peer, half range, int segment, size_t at) {
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

/* What comes from PEER, which stands BEFORE this rank or behind, is combined with RANGE. */
static void merge(draft *d, int peer, half range, bool before, int segment, size_t at) {
    int arrival = add(d, false, peer, range, segment, at);
    if (arrival == NONE)
        return;
    d->steps[arrival].buffer = COLL_SCRATCH;
    coll_step *sum = &d->steps[d->count];
    *sum = coll_step_combine(COLL_DATA, d->steps[arrival].from, bytes_of(d, range), false, before);
    sum->segment = segment;
    sum->at = at;
    after(d, d->count, arrival);
    after(d, d->count, d->latest);
    d->latest = d->count++;
}

/* The data go to the one of the pair that goes on, and the sums come back. */
static void leave_to_parent(draft *d, half whole) {
    int gave = add(d, true, d->plan->parent, whole, FROM_PAIRED, 0);
    d->lane = COLL_LANE_RESULTS;
    after(d, add(d, false, d->plan->parent, whole, TO_PAIRED, 0), gave);
}

/* Meets the rank's peers one after another; GIVEN and GAVE: what to each, and by which step.
 * Returns what is left. */
static half halve(draft *d, half range, half given[], int gave[]) {
    for (int i = 0; i < d->plan->peers; i++) {
        int middle = (range.first + range.end) / 2;
        half lower = {range.first, middle}, upper = {middle, range.end};
        bool before = d->plan->before[i];
        given[i] = before ? lower : upper;
        range = before ? upper : lower;
        gave[i] = add(d, true, d->plan->peer[i], given[i], GIVEN, start_of(d, given[i].first));
        after(d, gave[i], d->latest);
        merge(d, d->plan->peer[i], range, before, HALVES, d->halves);
        d->halves += bytes_of(d, range);
    }
    return range;
}

/* RANGE goes to PEER, once all of it has come. */
static void pass_on(draft *d, int peer, half range, int segment, size_t at) {
    int step = add(d, true, peer, range, segment, at);
    after(d, step, d->latest);
    after(d, step, d->passed);
    d->passed = step;
}

/* The way back: RANGE is what the rank has of the results. */
static void gather(draft *d, half range, const half given[], const int gave[]) {
    d->lane = COLL_LANE_RESULTS;
    for (int i = d->plan->peers; i-- > 0;) {
        int peer = d->plan->peer[i];
        pass_on(d, peer, range, PASSED_ON, d->passed_on);
        d->passed_on += bytes_of(d, range);
        int taken = add(d, false, peer, given[i], TAKEN_BACK, start_of(d, given[i].first));
        after(d, taken, gave[i]);
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
               .length = coll_segment_length(plan->base.part->shape->bytes, segment, round)};
    if (plan->parent >= 0) {
        leave_to_parent(&d, whole);
        return d.count;
    }
    if (plan->children)
        merge(&d, plan->child[0], whole, false, FROM_PAIRED, 0);
    gather(&d, halve(&d, whole, given, gave), given, gave);
    if (plan->children)
        pass_on(&d, plan->child[0], whole, TO_PAIRED, 0);
    return d.count;
}

/* Of each peer: a send, a receive and a combination, and a send and a receive. A chunk is as many
 * elements for each part. */
static coll_plan_size plan_size(const coll_part *part) {
    const coll_shape *shape = part->shape;
    size_t chunk = coll_chunk_of(part, shape->element << coll_tree_depth(shape->topo->ranks));
    return (coll_plan_size){.window = (int)coll_least(part->values->at[COLL_WINDOW],
                                                      coll_segment_count(shape->bytes, chunk)),
                            .steps = 5 * coll_tree_depth(shape->topo->ranks) + 3,
                            .segments = SEGMENTS,
                            .segment = chunk,
                            .own_bytes = sizeof(coll_trees)};
}

static coll_plan *make_plan(const coll_part *part, coll_plan_size size, void *memory) {
    coll_trees *plan = coll_trees_open(part, size, memory);
    coll_trees_double(plan, COLL_UNIT_RANK);
    plan->base.round = plan_round;
    return &plan->base;
}

const coll_algorithm coll_allreduce_halving = {
    .name = "halving",
    .summary = "pairs of ranks halve the data, sum them up, and put them together again",
    .params = {COLL_PARAM_SEGMENT("bytes of a chunk, which is halved, at most", 64 << 10),
               COLL_PARAM_WINDOW("chunks under way at a time", 4)},
    .reproducible = true,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan},
};
