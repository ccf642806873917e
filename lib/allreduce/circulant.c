/*
 * circulant: the fewest steps and the fewest bytes at once, whatever the number of ranks; for
 * middling sizes.
 *
 * A chunk of the data is p blocks. Ranks are positions in the chain order; the skips are p,
 * ceil(p/2), ceil(p/4), ..., 1. A rank at position r holds the blocks r, r + 1, ..., modulo p. From
 * each skip s' to the next one, s, it sends blocks s to s' - 1 of these to position r + s and adds
 * what comes from r - s to its first s' - s ones; so in the end it has the sum of block r. The same
 * way back all get all sums. A chunk goes in a round of its own, a message in two where it wraps
 * around. With an even p the first and the last step are exchanges between two ranks: half a chunk
 * stays below transports' eager limit, since two longer messages in opposite directions take turns
 * on a TCP connection of Open MPI.
 *
 * Steps: 2 ceil(log2 p). Bytes: 2 m (p - 1)/p from every rank and to it; up to half of that over an
 * uplink for each of the rack's ranks. Memory: four chunks for each of the window.
 * Source: Traeff: Optimal, non-pipelined reduce-scatter and allreduce algorithms, arXiv 2410.14234.
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/pattern/binomial.h"
#include "lib/schedule/plan.h"

enum { RECEIVED, SENT, GATHERED, PASSED, SEGMENTS }; /* of a round's memory */
enum { PIECES = 2 };                                 /* of blocks that wrap around */

/* A round as it is written. What comes next comes after its last steps: of both pieces. */
typedef struct draft {
    const coll_part *part;
    int ranks, position;
    coll_step *steps;
    int count, lane;
    size_t from, length;     /* of the chunk */
    size_t received, passed; /* bytes in the round's memory so far */
    int last[PIECES], lasts;
    int sent[32][PIECES]; /* which steps sent the sums, by skip */
} draft;

/* Blocks FIRST to FIRST + COUNT - 1 of the chunk, modulo p: those up to the last, and the rest. */
static void blocks_of(const draft *d, int first, int count, coll_range pieces[PIECES]) {
    const coll_shape *shape = d->part->shape;
    int p = d->ranks, begin = first % p, end = begin + count;
    const int ends[PIECES][2] = {{begin, end < p ? end : p}, {0, end > p ? end - p : 0}};
    for (int i = 0; i < PIECES; i++) {
        size_t from = coll_share_start(shape, d->length, p, ends[i][0]),
               to = coll_share_start(shape, d->length, p, ends[i][1]);
        pieces[i] = (coll_range){d->from + from, to - from};
    }
}

static int rank_at(const draft *d, int distance) {
    int p = d->ranks;
    return d->part->line->order[(d->position + distance + p) % p];
}

/* Adds STEP after the last ones. */
static coll_step *add(draft *d, coll_step step, int segment, size_t at) {
    coll_step *added = &d->steps[d->count++];
    *added = step;
    added->lane = d->lane;
    added->segment = segment;
    added->at = at;
    for (int i = 0; i < d->lasts; i++)
        coll_step_after(added, 0, d->last[i]);
    return added;
}

static void replace_last(draft *d, const int last[], int count) {
    for (int i = 0; i < count; i++)
        d->last[i] = last[i];
    d->lasts = count > 0 ? count : d->lasts;
}

/* From skip BEFORE to SKIP: sums of blocks go to the rank that is so far above. */
static void reduce(draft *d, int which, int before, int skip) {
    coll_range pieces[PIECES];
    int last[PIECES], count = 0;
    blocks_of(d, d->position + skip, before - skip, pieces);
    for (int i = 0; i < PIECES; i++) {
        d->sent[which][i] = d->count;
        if (pieces[i].length)
            add(d, coll_step_send(rank_at(d, skip), pieces[i].from, pieces[i].length), SENT,
                pieces[i].from - d->from);
    }
    blocks_of(d, d->position, before - skip, pieces);
    for (int i = 0; i < PIECES; i++) {
        size_t from = pieces[i].from, length = pieces[i].length;
        if (!length)
            continue;
        coll_step *receive = &d->steps[d->count++];
        *receive = coll_step_receive(rank_at(d, -skip), from, length);
        receive->buffer = COLL_SCRATCH;
        receive->segment = RECEIVED;
        receive->at = d->received;
        coll_step *sum =
            add(d, coll_step_combine(COLL_DATA, from, length, false, true), RECEIVED, d->received);
        coll_step_after(sum, 0, d->count - 2);
        last[count++] = d->count - 1;
        d->received += length;
    }
    replace_last(d, last, count);
}

/* The same way back: results go to the rank that is so far below. */
static void gather(draft *d, int which, int before, int skip) {
    coll_range pieces[PIECES];
    int last[PIECES], count = 0;
    d->lane = COLL_LANE_RESULTS;
    blocks_of(d, d->position, before - skip, pieces);
    for (int i = 0; i < PIECES; i++) {
        if (pieces[i].length)
            add(d, coll_step_send(rank_at(d, -skip), pieces[i].from, pieces[i].length), PASSED,
                d->passed);
        d->passed += pieces[i].length;
    }
    blocks_of(d, d->position + skip, before - skip, pieces);
    for (int i = 0; i < PIECES; i++) {
        if (!pieces[i].length)
            continue;
        coll_step *step =
            add(d, coll_step_receive(rank_at(d, skip), pieces[i].from, pieces[i].length), GATHERED,
                pieces[i].from - d->from);
        coll_step_after(step, 0, d->sent[which][i]); /* sums were sent from there */
        last[count++] = d->count - 1;
    }
    replace_last(d, last, count);
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_part *part = base->part;
    coll_range chunk = coll_segment_at(part->shape->bytes, base->size.segment, round);
    draft d = {.part = part,
               .ranks = part->shape->topo->ranks,
               .position = part->line->position,
               .steps = steps,
               .from = chunk.from,
               .length = chunk.length};
    int skips[33] = {d.ranks}, count = 0;
    for (; skips[count] > 1; count++)
        skips[count + 1] = (skips[count] + 1) / 2;
    for (int i = 0; i < count; i++)
        reduce(&d, i, skips[i], skips[i + 1]);
    for (int i = count; i-- > 0;)
        gather(&d, i, skips[i], skips[i + 1]);
    return d.count;
}

/* Of each skip: two sends, receives and combinations, two sends and receives. A chunk is as many
 * elements for each rank: some are received more than once, into as much memory. */
static coll_plan_size plan_size(const coll_part *part) {
    enum { STEPS = 5 * PIECES };
    const coll_shape *shape = part->shape;
    size_t chunk = coll_chunk_of(part, (size_t)shape->topo->ranks * shape->element);
    return (coll_plan_size){.window = (int)coll_least(part->values->at[COLL_WINDOW],
                                                      coll_segment_count(shape->bytes, chunk)),
                            .steps = STEPS * coll_tree_depth(shape->topo->ranks),
                            .segments = SEGMENTS,
                            .segment = chunk,
                            .own_bytes = sizeof(coll_plan)};
}

static coll_plan *make_plan(const coll_part *part, coll_plan_size size, void *memory) {
    coll_plan *plan = memory;
    *plan =
        coll_plan_of(part, size, coll_segment_count(part->shape->bytes, size.segment), plan_round);
    return plan;
}

const coll_algorithm coll_allreduce_circulant = {
    .name = "circulant",
    .summary = "blocks are summed up and passed on over a circulant graph, in the fewest steps",
    .params = {COLL_PARAM_SEGMENT("bytes of a chunk, all blocks of which go on at a time, at most",
                                  64 << 10),
               COLL_PARAM_WINDOW("chunks under way at a time", 4)},
    .applicable = coll_order_is_free,
    .planner = &(const coll_planner){.size = plan_size, .plan = make_plan, .in_step = true},
};
