/*
 * circulant: the fewest steps and the fewest bytes at once, whatever the number of ranks; for
 * middling sizes. circulant_levels: the same inside nodes, inside racks and across them, so that
 * what is shared is crossed by little.
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
 * With levels, ranks first do so in their node (their rack, where no ranks share nodes). The ranks
 * of a rack that have the sum of the same block there go on with it among themselves, and those of
 * all racks with what they have then; then all the way back. Where units are of different sizes, as
 * few of the positions as the smallest has ones hold a block: they are spread evenly over the
 * others, which have none to go on with.
 *
 * Steps: 2 ceil(log2 p), of each level. Bytes: 2 m (p - 1)/p from every rank and to it; up to half
 * of that over an uplink for each of the rack's ranks. With levels, of n ranks a rack in R racks,
 * 2 m (n - 1)/n inside and 2 m (R - 1)/(R n) outside; over an uplink 2 m (R - 1)/R. Memory: four
 * chunks for each of the window, up to log2 p times as much where units are uneven.
 * Source: Traeff: Optimal, non-pipelined reduce-scatter and allreduce algorithms, arXiv 2410.14234;
 * levels after Cho and others: BlueConnect (MLSys 2019).
 */
#include "config.h"

#include "lib/allreduce/allreduce.h"
#include "lib/pattern/binomial.h"
#include "lib/schedule/plan.h"

#include <string.h>

/* Of a round's memory. What is received and what is passed on then have as many ROOMS each. */
enum { SENT, GATHERED, ROOMS };
enum { PIECES = 2 }; /* of blocks that wrap around */
enum { LEVELS = 3, SKIPS = 32 };

/* The ranks that do so together. */
typedef struct group {
    const int *ranks; /* by place: in the order of the line */
    int count, parts; /* so many have a part; the others none */
    int place;        /* this rank's, */
    int position;     /* where it stands in the graph */
} group;

typedef struct circulant_plan {
    coll_plan base;
    int rooms;  /* for what is received, and again for what is passed on: 1, or one for each skip */
    int levels; /* in which this rank takes part */
    group group[LEVELS];
} circulant_plan;

/* A room, and how much of it is used. */
typedef struct room {
    int segment;
    size_t used;
} room;

/* A round as it is written. What comes next comes after its last steps: of both pieces. */
typedef struct draft {
    const coll_shape *shape;
    const group *among;
    coll_range range; /* what they sum up */
    coll_step *steps;
    int count, lane;
    size_t from; /* of the chunk */
    bool many;   /* rooms */
    room received, passed;
    int last[PIECES], lasts;
    coll_range changed[PIECES]; /* by them or earlier ones */
} draft;

/* --- Groups --- */

/* How many parts are at the positions before this one. */
static int parts_before(const group *g, int position) {
    return (int)((int64_t)position * g->parts / g->count);
}

/* The first ones have the parts. */
static int place_at(const group *g, int position) {
    int before = parts_before(g, position);
    return parts_before(g, position + 1) > before ? before : g->parts + position - before;
}

static int rank_at(const group *g, int distance) {
    return g->ranks[place_at(g, (g->position + distance + g->count) % g->count)];
}

/* Positions FIRST to FIRST + COUNT - 1, modulo p: the parts of those up to the last, and the rest.
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

/* Adds STEP, after the last ones if it depends ON_LAST. */
static coll_step *add(draft *d, coll_step step, int segment, size_t at, bool on_last) {
    coll_step *added = &d->steps[d->count++];
    *added = step;
    added->lane = d->lane;
    added->segment = segment;
    added->at = at;
    for (int i = 0; i < d->lasts && on_last; i++)
        coll_step_after(added, 0, d->last[i]);
    return added;
}

/* Whether sums have been added to PIECE. */
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

/* The next skip has a room of its own, where there are many. */
static void leave(const draft *d, room *r) {
    if (d->many)
        *r = (room){.segment = r->segment + 1};
}

/* From skip BEFORE to SKIP: sums of blocks go to the rank that is so far above. Writes to SENT
 * which steps sent them. */
static void reduce(draft *d, int before, int skip, int sent[PIECES]) {
    const group *g = d->among;
    coll_range pieces[PIECES];
    int last[PIECES], count = 0;
    parts_of(d, g->position + skip, before - skip, pieces);
    for (int i = 0; i < PIECES; i++) {
        sent[i] = d->count;
        if (pieces[i].length)
            add(d, coll_step_send(rank_at(g, skip), pieces[i].from, pieces[i].length), SENT,
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
        coll_step *sum = add(d, coll_step_combine(COLL_DATA, from, length, false, true),
                             receive->segment, receive->at, true);
        coll_step_after(sum, 0, d->count - 2);
        last[count++] = d->count - 1;
        d->received.used += length;
    }
    replace_last(d, last, count);
    leave(d, &d->received);
}

/* The same way back: results go to the rank that is so far below. */
static void gather(draft *d, int before, int skip, const int sent[PIECES]) {
    const group *g = d->among;
    coll_range pieces[PIECES];
    int last[PIECES], count = 0;
    parts_of(d, g->position, before - skip, pieces);
    for (int i = 0; i < PIECES; i++) {
        if (pieces[i].length)
            add(d, coll_step_send(rank_at(g, -skip), pieces[i].from, pieces[i].length),
                d->passed.segment, d->passed.used, true);
        d->passed.used += pieces[i].length;
    }
    leave(d, &d->passed);
    parts_of(d, g->position + skip, before - skip, pieces);
    for (int i = 0; i < PIECES; i++) {
        if (!pieces[i].length)
            continue;
        coll_step *step =
            add(d, coll_step_receive(rank_at(g, skip), pieces[i].from, pieces[i].length), GATHERED,
                pieces[i].from - d->from, true);
        coll_step_after(step, 0, sent[i]); /* sums were sent from there */
        last[count++] = d->count - 1;
    }
    replace_last(d, last, count);
}

/* RANGE is summed up among those of LEVEL, and what of it this rank then has above. */
static void write_level(draft *d, const circulant_plan *plan, int level, coll_range range) {
    const group *g = &plan->group[level];
    int skips[SKIPS + 1] = {g->count}, sent[SKIPS][PIECES], count = 0;
    d->among = g;
    d->range = range;
    for (; skips[count] > 1; count++) {
        skips[count + 1] = (skips[count] + 1) / 2;
        reduce(d, skips[count], skips[count + 1], sent[count]);
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
        gather(d, skips[count], skips[count + 1], sent[count]);
}

static int plan_round(const coll_plan *base, uint64_t round, coll_step steps[]) {
    const coll_shape *shape = base->part->shape;
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

/* What stands together, from inside: units of each kind in one of the next. */
typedef struct frame {
    coll_unit unit[LEVELS + 1];
    int levels;
    coll_extent extent[LEVELS];
} frame;

/* Its units alone. */
static frame units_of(const coll_topo *topo, bool levels) {
    frame f = {.unit = {COLL_UNIT_RANK}};
    if (levels && topo->nodes > 1 && topo->nodes < topo->ranks)
        f.unit[++f.levels] = COLL_UNIT_NODE;
    if (levels && topo->racks > 1 && topo->racks < topo->nodes)
        f.unit[++f.levels] = COLL_UNIT_RACK;
    f.unit[++f.levels] = COLL_UNIT_ALL;
    return f;
}

static frame frame_of(const coll_part *part, bool levels) {
    const coll_topo *topo = part->shape->topo;
    frame f = units_of(topo, levels);
    for (int i = 0; i < f.levels; i++)
        f.extent[i] = coll_line_extent(part->line, topo, f.unit[i], f.unit[i + 1]);
    return f;
}

static int rooms_of(const frame *f) {
    int skips = 0;
    bool is_even = true;
    for (int i = 0; i < f->levels; i++) {
        skips += coll_tree_depth(f->extent[i].most);
        is_even = is_even && f->extent[i].fewest == f->extent[i].most;
    }
    return is_even ? 1 : skips;
}

/* Of each skip: two sends, receives and combinations, two sends and receives. A chunk is as many
 * elements for each part: some are received more than once, into as much memory. */
static coll_plan_size size_of(const coll_part *part, bool levels) {
    enum { STEPS = 5 * PIECES };
    const coll_shape *shape = part->shape;
    const frame f = frame_of(part, levels);
    size_t least = shape->element, members = 0;
    int skips = 0;
    for (int i = 0; i < f.levels; i++) {
        least *= (size_t)f.extent[i].fewest;
        skips += coll_tree_depth(f.extent[i].most);
        members += (size_t)f.extent[i].most;
    }
    size_t chunk = coll_chunk_of(part, least);
    return (coll_plan_size){
        .window =
            (int)coll_least(part->values->at[COLL_WINDOW], coll_segment_count(shape->bytes, chunk)),
        .steps = STEPS * skips,
        .segments = ROOMS + 2 * rooms_of(&f),
        .segment = chunk,
        .own_bytes = sizeof(circulant_plan) + (levels ? members * sizeof(int) : 0)};
}

/* Who sums up at LEVEL with this rank, whose places below are OWN. They are written to RANKS. */
static group group_of(const coll_part *part, const frame *f, int level, const int own[],
                      int ranks[]) {
    const coll_line *line = part->line;
    const coll_unit whole = f->unit[level + 1];
    group g = {.ranks = ranks, .parts = f->extent[level].fewest};
    int position = line->position, place[LEVELS] = {0};
    while (!coll_part_begins(part, position, whole))
        position--;
    do {
        bool is_one = true;
        for (int i = 0; i < level; i++)
            is_one = is_one && place[i] == own[i];
        if (position == line->position)
            g.place = g.count;
        if (is_one)
            ranks[g.count++] = line->order[position];
        if (++position == part->shape->topo->ranks)
            break;
        for (int i = 0; i < level; i++)
            place[i] = coll_part_begins(part, position, f->unit[i + 1])
                           ? 0
                           : place[i] + coll_part_begins(part, position, f->unit[i]);
    } while (!coll_part_begins(part, position, whole));
    return g;
}

static coll_plan *plan_of(const coll_part *part, bool levels, coll_plan_size size, void *memory) {
    circulant_plan *plan = memory;
    const int p = part->shape->topo->ranks;
    *plan = (circulant_plan){
        .base = coll_plan_of(part, size, coll_segment_count(part->shape->bytes, size.segment),
                             plan_round),
        .rooms = (size.segments - ROOMS) / 2,
        .levels = 1,
        .group = {{part->line->order, p, p, part->line->position, part->line->position}}};
    if (!levels)
        return &plan->base;
    const frame f = frame_of(part, levels);
    int own[LEVELS], *ranks = (int *)(plan + 1);
    for (int i = 0; i < f.levels; i++) {
        group *g = &plan->group[i];
        *g = group_of(part, &f, i, own, ranks);
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

static coll_plan_size size_flat(const coll_part *part) {
    return size_of(part, false);
}

static coll_plan *plan_flat(const coll_part *part, coll_plan_size size, void *memory) {
    return plan_of(part, false, size, memory);
}

static coll_plan_size size_levels(const coll_part *part) {
    return size_of(part, true);
}

static coll_plan *plan_levels(const coll_part *part, coll_plan_size size, void *memory) {
    return plan_of(part, true, size, memory);
}

static bool has_levels(const coll_shape *call) {
    return coll_order_is_free(call) && units_of(call->topo, true).levels > 1;
}

#define PARAMS                                                                                     \
    {                                                                                              \
        COLL_PARAM_SEGMENT("bytes of a chunk, all blocks of which go on at a time, at most",       \
                           64 << 10),                                                              \
            COLL_PARAM_WINDOW("chunks under way at a time", 4)                                     \
    }

const coll_algorithm coll_allreduce_circulant = {
    .name = "circulant",
    .summary = "blocks are summed up and passed on over a circulant graph, in the fewest steps",
    .params = PARAMS,
    .applicable = coll_order_is_free,
    .planner = &(const coll_planner){.size = size_flat, .plan = plan_flat},
};

const coll_algorithm coll_allreduce_circulant_levels = {
    .name = "circulant_levels",
    .summary = "circulant inside nodes, inside racks, and across racks by place",
    .params = PARAMS,
    .applicable = has_levels,
    .planner = &(const coll_planner){.size = size_levels, .plan = plan_levels},
};
