/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * circulant: the fewest steps and the fewest bytes at the same time, for any number of ranks; for
 * medium sizes. circulant_levels: the same inside nodes, inside racks and across racks, so that
 * little data crosses shared links.
 *
 * A chunk of the data has p blocks. Ranks are positions in the chain order; the skips are p,
 * ceil(p/2), ceil(p/4), ..., 1. The rank at position r numbers the blocks r, r + 1, ..., modulo p,
 * from 0. For each skip s' and the next one, s, it sends its blocks s to s' - 1 to position r + s
 * and adds the blocks that it receives from position r - s to its first s' - s blocks; so in the
 * end it has the sum of block r. In the reverse order all ranks then get all sums. A chunk has a
 * round of its own, and a message that wraps around is sent in two pieces. With an even p the first
 * and the last step are exchanges between two ranks: half a chunk stays below transports' eager
 * limit, since two longer messages in opposite directions take turns on a TCP connection of Open
 * MPI.
 *
 * With levels, the ranks of each node (of each rack, if no ranks share nodes) first reduce in this
 * way. Then, in each rack, the ranks that have the sum of the same block in their nodes reduce that
 * block among themselves. After that, the ranks of all racks that have the sum of the same part do
 * the same with that part. In the end all levels gather in the reverse order.
 *
 * If groups of a level differ in size, the data of each group is divided into as many blocks as the
 * smallest group has ranks. In a larger group the blocks belong to positions that are spread
 * evenly; the ranks at the other positions have no block and skip the higher levels.
 *
 * Steps: 2 ceil(log2 p) on each level, for p ranks of a group. Bytes: 2 m (p - 1)/p from every rank
 * and to it; over an uplink up to as much for each of the rack's ranks. With levels, R racks of n
 * ranks: 2 m (n - 1)/n inside and 2 m (R - 1)/(R n) outside, so that 2 m (R - 1)/R cross an uplink.
 * Memory: four chunks for each round of the window, up to log2 p times as much if groups differ in
 * size.
 * Source: Traeff: Optimal, non-pipelined reduce-scatter and allreduce algorithms, arXiv 2410.14234;
 * levels after Cho and others: BlueConnect (MLSys 2019).
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/pattern/binomial.h"
#include "lib/plan/tuned.h"

#include <string.h>

/*
 * Segments of a round's memory. From ROOMS on come the segments for received sums, then the same
 * number for forwarded results.
 */
enum { SENT, GATHERED, ROOMS };
enum { PIECES = 2 }; /* of a range of blocks that wraps around */
enum { LEVELS = 3, SKIPS = 32 };

/* The ranks that run the algorithm together. */
typedef struct group {
    const int *ranks; /* by place, which is the order of the line */
    int count, parts; /* number of ranks; PARTS of them have a block */
    int place;        /* this rank's place */
    int position;     /* this rank's position in the graph */
} group;

typedef struct circulant_plan {
    coll_plan base;
    /* number of segments for received sums, and as many for forwarded results: 1, or one for each
     * skip */
    int rooms;
    int levels; /* levels in which this rank takes part */
    group group[LEVELS];
} circulant_plan;

/* A segment of scratch memory, and the bytes of it used so far. */
typedef struct room {
    int segment;
    size_t used;
} room;

/* A round being written. Steps that are added may depend on the LAST steps, one for each piece. */
typedef struct draft {
    const coll_shape *shape;
    const group *among;
    coll_range range; /* the range that the group sums up */
    coll_step *steps;
    int count, lane;
    size_t from; /* start of the chunk */
    bool many;   /* each skip has segments of its own */
    room received, passed;
    int last[PIECES], lasts;
    coll_range changed[PIECES]; /* ranges changed by the last steps or earlier ones */
} draft;

/* --- Groups --- */

/* Returns how many blocks belong to positions below POSITION. */
static int parts_before(const group *g, int position) {
    return (int)((int64_t)position * g->parts / g->count);
}

/* Returns the place of the rank at POSITION: the first places are those with blocks. */
static int place_at(const group *g, int position) {
    int before = parts_before(g, position);
    return parts_before(g, position + 1) > before ? before : g->parts + position - before;
}

static int rank_at(const group *g, int distance) {
    return g->ranks[place_at(g, (g->position + distance + g->count) % g->count)];
}

/*
 * Sets PIECES to the ranges of the data that belong to positions FIRST to FIRST + COUNT - 1, modulo
 * p: one range up to the last position, and one from the first position on.
 */
static void parts_of(const draft *d, int first, int count, coll_range pieces[PIECES]) {
    const group *g = d->among;
    int p = g->count, begin = first % p, end = begin + count;
    const int ends[PIECES][2] = {{begin, end < p ? end : p}, {0, end > p ? end - p : 0}};
    for (int i = 0; i < PIECES; i++) {
        size_t from = coll_share_start(d->shape, d->range.length, g->parts,
                                       parts_before(g, ends[i][0])),
               to = coll_share_start(d->shape, d->range.length, g->parts,
                                     parts_before(g, ends[i][1]));
        pieces[i] = (coll_range){d->range.from + from, to - from};
    }
}

/* --- Rounds --- */

/* Adds STEP, which depends on the last steps if ON_LAST. */
static coll_step *add_step(draft *d, coll_step step, int segment, size_t at, bool on_last) {
    coll_step *added = &d->steps[d->count++];
    *added = step;
    added->lane = d->lane;
    added->segment = segment;
    added->at = at;
    for (int i = 0; i < d->lasts && on_last; i++)
        coll_step_after(added, 0, d->last[i]);
    return added;
}

/* Returns whether sums have been added to PIECE. */
static bool is_changed(const draft *d, coll_range piece) {
    for (int i = 0; i < PIECES; i++)
        if (piece.from < d->changed[i].from + d->changed[i].length &&
            d->changed[i].from < piece.from + piece.length)
            return true;
    return false;
}

static void replace_last(draft *d, const int last[], int count) {
    for (int i = 0; i < count; i++)
        d->last[i] = last[i];
    d->lasts = count > 0 ? count : d->lasts;
}

/* Advances R to the next segment if each skip has a segment of its own. */
static void advance_room(const draft *d, room *r) {
    if (d->many)
        *r = (room){.segment = r->segment + 1};
}

/*
 * Writes the reduction from skip BEFORE to SKIP: sums go to the rank SKIP positions above. Sets
 * SENT to the steps that send them.
 */
static void reduce_skip(draft *d, int before, int skip, int sent[PIECES]) {
    const group *g = d->among;
    coll_range pieces[PIECES];
    int last[PIECES], count = 0;
    parts_of(d, g->position + skip, before - skip, pieces);
    for (int i = 0; i < PIECES; i++) {
        sent[i] = d->count;
        if (pieces[i].length)
            add_step(d, coll_step_send(rank_at(g, skip), pieces[i].from, pieces[i].length), SENT,
                     pieces[i].from - d->from, is_changed(d, pieces[i]));
    }
    parts_of(d, g->position, before - skip, pieces);
    if (d->lasts == 0)
        memcpy(d->changed, pieces, sizeof pieces);
    for (int i = 0; i < PIECES; i++) {
        size_t from = pieces[i].from, length = pieces[i].length;
        if (!length)
            continue;
        coll_step *receive = &d->steps[d->count++];
        *receive = coll_step_receive(rank_at(g, -skip), from, length);
        receive->buffer = COLL_SCRATCH;
        receive->segment = d->received.segment;
        receive->at = d->received.used;
        coll_step *sum = add_step(d, coll_step_combine(COLL_DATA, from, length, false, true),
                                  receive->segment, receive->at, true);
        coll_step_after(sum, 0, d->count - 2);
        last[count++] = d->count - 1;
        d->received.used += length;
    }
    replace_last(d, last, count);
    advance_room(d, &d->received);
}

/* Writes the reverse of reduce_skip: results go to the rank SKIP positions below. */
static void gather_skip(draft *d, int before, int skip, const int sent[PIECES]) {
    const group *g = d->among;
    coll_range pieces[PIECES];
    int last[PIECES], count = 0;
    parts_of(d, g->position, before - skip, pieces);
    for (int i = 0; i < PIECES; i++) {
        if (pieces[i].length)
            add_step(d, coll_step_send(rank_at(g, -skip), pieces[i].from, pieces[i].length),
                     d->passed.segment, d->passed.used, true);
        d->passed.used += pieces[i].length;
    }
    advance_room(d, &d->passed);
    parts_of(d, g->position + skip, before - skip, pieces);
    for (int i = 0; i < PIECES; i++) {
        if (!pieces[i].length)
            continue;
        coll_step *step =
            add_step(d, coll_step_receive(rank_at(g, skip), pieces[i].from, pieces[i].length),
                     GATHERED, pieces[i].from - d->from, true);
        coll_step_after(step, 0, sent[i]); /* sums were sent from the same memory */
        last[count++] = d->count - 1;
    }
    replace_last(d, last, count);
}

/*
 * Writes the steps that reduce RANGE in this rank's group of LEVEL, then those that reduce this
 * rank's block of RANGE at the higher levels, and then those that gather the results in the group.
 */
static void write_level(draft *d, const circulant_plan *plan, int level, coll_range range) {
    const group *g = &plan->group[level];
    int skips[SKIPS + 1] = {g->count}, sent[SKIPS][PIECES], count = 0;
    d->among = g;
    d->range = range;
    for (; skips[count] > 1; count++) {
        skips[count + 1] = (skips[count] + 1) / 2;
        reduce_skip(d, skips[count], skips[count + 1], sent[count]);
    }
    if (level + 1 < plan->levels) {
        coll_range own[PIECES];
        parts_of(d, g->position, 1, own);
        write_level(d, plan, level + 1, own[0]);
    }
    d->among = g;
    d->range = range;
    d->lane = COLL_LANE_RESULTS;
    while (count-- > 0)
        gather_skip(d, skips[count], skips[count + 1], sent[count]);
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_shape *shape = base->args->shape;
    const circulant_plan *plan = (const circulant_plan *)base;
    coll_range chunk = coll_segment_at(shape->bytes, base->size.segment, round);
    draft d = {.shape = shape,
               .steps = steps,
               .from = chunk.from,
               .many = plan->rooms > 1,
               .received = {.segment = ROOMS},
               .passed = {.segment = ROOMS + plan->rooms}};
    write_level(&d, plan, 0, chunk);
    return d.count;
}

/* --- Plans --- */

/*
 * The hierarchy of units, from the smallest, and how many units of each kind are in a unit of the
 * next kind.
 */
typedef struct hierarchy {
    coll_unit unit[LEVELS + 1];
    int levels;
    coll_extent extent[LEVELS];
} hierarchy;

/* Returns a hierarchy whose units are set; the extents are not. */
static hierarchy units_of(const coll_topo *topo, bool levels) {
    hierarchy f = {.unit = {COLL_UNIT_RANK}};
    if (levels && topo->nodes > 1 && topo->nodes < topo->ranks)
        f.unit[++f.levels] = COLL_UNIT_NODE;
    if (levels && topo->racks > 1 && topo->racks < topo->nodes)
        f.unit[++f.levels] = COLL_UNIT_RACK;
    f.unit[++f.levels] = COLL_UNIT_ALL;
    return f;
}

static hierarchy measure_hierarchy(const coll_plan_args *args, bool levels) {
    const coll_topo *topo = args->shape->topo;
    hierarchy f = units_of(topo, levels);
    for (int i = 0; i < f.levels; i++)
        f.extent[i] = coll_rank_order_extent(args->line, topo, f.unit[i], f.unit[i + 1]);
    return f;
}

static int rooms_of(const hierarchy *f) {
    int skips = 0;
    bool is_even = true;
    for (int i = 0; i < f->levels; i++) {
        skips += coll_tree_depth(f->extent[i].most);
        is_even = is_even && f->extent[i].fewest == f->extent[i].most;
    }
    return is_even ? 1 : skips;
}

/*
 * A skip takes two sends, receives and combinations, and on the way back two sends and receives.
 * Each chunk, except perhaps the last one, has the same number of elements for each part. If groups
 * differ in size, some parts are received more than once, and need memory each time.
 */
static coll_plan_size size_of(const coll_plan_args *args, bool levels) {
    enum { STEPS = 5 * PIECES };
    const coll_shape *shape = args->shape;
    const hierarchy f = measure_hierarchy(args, levels);
    size_t least = shape->element, members = 0;
    int skips = 0;
    for (int i = 0; i < f.levels; i++) {
        least *= (size_t)f.extent[i].fewest;
        skips += coll_tree_depth(f.extent[i].most);
        members += (size_t)f.extent[i].most;
    }
    const int segments = ROOMS + 2 * rooms_of(&f);
    size_t chunk = coll_chunk_of(args, least),
           window = coll_window_asked(args, 2 * chunk, 2 * coll_tree_depth(shape->topo->nodes),
                                      (size_t)segments * chunk);
    return (coll_plan_size){
        .window = (int)coll_least(window, coll_segment_count(shape->bytes, chunk)),
        .steps = STEPS * skips,
        .segments = segments,
        .segment = chunk,
        .own_bytes = sizeof(circulant_plan) + (levels ? members * sizeof(int) : 0)};
}

/*
 * Returns the group with which this rank sums up at LEVEL, and writes the group's members to RANKS.
 * OWN has this rank's places at the lower levels, which are the same for all members.
 */
static group group_of(const coll_plan_args *args, const hierarchy *f, int level, const int own[],
                      int ranks[]) {
    const coll_rank_order *line = args->line;
    const coll_unit whole = f->unit[level + 1];
    group g = {.ranks = ranks, .parts = f->extent[level].fewest};
    int position = line->position, place[LEVELS] = {0};
    while (!coll_plan_args_begins(args, position, whole))
        position--;
    do {
        bool is_one = true;
        for (int i = 0; i < level; i++)
            is_one = is_one && place[i] == own[i];
        if (position == line->position)
            g.place = g.count;
        if (is_one)
            ranks[g.count++] = line->order[position];
        if (++position == args->shape->topo->ranks)
            break;
        for (int i = 0; i < level; i++)
            place[i] = coll_plan_args_begins(args, position, f->unit[i + 1])
                           ? 0
                           : place[i] + coll_plan_args_begins(args, position, f->unit[i]);
    } while (!coll_plan_args_begins(args, position, whole));
    return g;
}

static coll_plan *plan_of(const coll_plan_args *args, coll_plan_size size, void *memory,
                          bool levels) {
    circulant_plan *plan = memory;
    const int p = args->shape->topo->ranks;
    *plan = (circulant_plan){
        .base = coll_plan_of(args, size, coll_segment_count(args->shape->bytes, size.segment),
                             plan_round),
        .rooms = (size.segments - ROOMS) / 2,
        .levels = 1,
        .group = {{args->line->order, p, p, args->line->position, args->line->position}}};
    if (!levels)
        return &plan->base;
    const hierarchy f = measure_hierarchy(args, levels);
    int own[LEVELS], *ranks = (int *)(plan + 1);
    for (int i = 0; i < f.levels; i++) {
        group *g = &plan->group[i];
        *g = group_of(args, &f, i, own, ranks);
        while (place_at(g, g->position) != g->place)
            g->position++;
        plan->levels = i + 1;
        if (g->place >= g->parts)
            break;
        own[i] = g->place;
        ranks += g->count;
    }
    return &plan->base;
}

COLL_PLANNER(flat, size_of, plan_of, false);
COLL_PLANNER(by_levels, size_of, plan_of, true);

static bool has_levels(const coll_shape *call) {
    return coll_order_is_free(call) && units_of(call->topo, true).levels > 1;
}

#define PARAMS                                                                                     \
    {                                                                                              \
        COLL_PARAM_SEGMENT("most bytes of a chunk, all blocks of which move at the same time",     \
                           64 << 10),                                                              \
            COLL_PARAM_WINDOW("chunks in flight; 0: by the cost model", 0)                         \
    }

const coll_algorithm coll_allreduce_circulant = {
    .name = "circulant",
    .summary = "blocks are summed up and passed on over a circulant graph, in the fewest steps",
    .params = PARAMS,
    .applicable = coll_order_is_free,
    .planner = &flat,
};

const coll_algorithm coll_allreduce_circulant_levels = {
    .name = "circulant_levels",
    .summary = "circulant inside nodes, inside racks, and across racks by place",
    .params = PARAMS,
    .applicable = has_levels,
    .planner = &by_levels,
};
