/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/prover.h"

#include "lib/plan/cursor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The label of a byte: the number of its value, or 0 if it has none. A byte in scratch memory has a
 * value only in the round that wrote it. Also the number of sends in progress that read the byte,
 * and of receives that write it.
 */
typedef struct label {
    uint32_t value;
    uint16_t readers, writers;
    uint64_t round;
} label;

/* A set of up to 128 ranks. */
__extension__ typedef unsigned __int128 set;

/* A byte of a rank's input, or two values combined in this order. */
typedef struct value {
    size_t byte;     /* the byte of the call: see byte_of */
    set ranks;       /* the ranks whose contributions it has, */
    int first, last; /* the first and the last of them, */
    bool in_order;   /* it has all ranks between them, in order */
    uint64_t tree;   /* a hash of how they were combined, regardless of the byte */
} value;

typedef struct values {
    value *all;
    uint32_t count, room; /* the first entry is not a value */
} values;

/* A message that was sent, or a receive that waits for one. */
typedef struct letter {
    size_t length;
    int node; /* the node of its owner's cursor; -1 if it is complete there */
    label *bytes;
    set knows;       /* what its sender knows */
    uint64_t number; /* numbered in the order of sending */
    struct letter *next;
} letter;

typedef struct queue {
    letter *first, **end;
} queue;

/* The messages from one rank to another, on one lane. */
typedef struct path {
    int from, to, lane;
    queue sent, wanted;
    int under_way;           /* messages with data */
    bool waits;              /* it must be checked */
    struct path *next;       /* the next channel from the same rank */
    struct path *next_waits; /* the next one that must be checked */
} path;

/* A rank's data, or its input. */
typedef struct side {
    size_t bytes;
    int parts;           /* the number of blocks, or 1 */
    size_t *start;       /* the start of each part by position, and the end of the last */
    MPI_Count *counts;   /* the size of each block by rank */
    coll_blocks *blocks; /* NULL if it is not in blocks */
    label *labels;
} side;

typedef struct player {
    int rank;
    coll_plan_args part;
    const coll_plan *plan;
    void *memory, *room;
    coll_cursor cursor;
    side sides[2]; /* data and input */
    label *scratch;
    set knows;   /* the ranks that it knows to have started, from messages */
    path *paths; /* channels from this rank */
    int sending; /* messages with data */
    bool idle;   /* nothing has completed since it started all that it could */
} player;

typedef struct play {
    const prover_call *call;
    prover_report *report;
    int ranks;
    player *players;
    coll_rank_order **lines; /* one for each rank */
    coll_shape shape;
    values values;
    uint64_t letters; /* messages sent so far */
    path *waiting;    /* channels on which something has arrived since they were checked */
    size_t *into, *out;
    int *senders; /* for each rank, the ranks from which messages with data are in flight */
} play;

__attribute__((format(printf, 2, 3))) static bool refuse(play *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!p->report->problem[0])
        vsnprintf(p->report->problem, sizeof p->report->problem, format, arguments);
    va_end(arguments);
    return false;
}

static void *allocate(size_t count, size_t bytes) {
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory)
        abort(); /* not with Check, whose assertions cost a system call each */
    return memory;
}

/* --- Values --- */

/* Returns the number of ADDED. */
static uint32_t add_value(values *v, value added) {
    if (v->count == v->room) {
        v->room *= 2;
        v->all = realloc(v->all, v->room * sizeof *v->all);
        if (!v->all)
            abort();
    }
    v->all[v->count] = added;
    return v->count++;
}

/* Returns a hash of LEFT and RIGHT in this order. */
static uint64_t mixed(uint64_t left, uint64_t right) {
    uint64_t both = (left * 0x9e3779b97f4a7c15u ^ (left >> 29)) + right * 0xbf58476d1ce4e5b9u + 1;
    return (both ^ both >> 31) * 0x94d049bb133111ebu;
}

/* Makes the value of a byte of RANK's input. */
static uint32_t brought(play *p, int rank, size_t byte) {
    return add_value(&p->values, (value){.byte = byte,
                                         .ranks = (set)1 << rank,
                                         .first = rank,
                                         .last = rank,
                                         .in_order = true,
                                         .tree = mixed((uint64_t)rank, 1)});
}

/* Returns whether NUMBER is the value of that byte of RANK's input. */
static bool is_of(const play *p, uint32_t number, int rank, size_t byte) {
    const value *one = &p->values.all[number];
    return number && one->byte == byte && one->ranks == (set)1 << rank;
}

/* Returns the combination of two values, or 0 if they cannot be combined. */
static uint32_t combined(play *p, uint32_t left, uint32_t right) {
    const value *a = &p->values.all[left], *b = &p->values.all[right];
    if (!left || !right || a->byte != b->byte || (a->ranks & b->ranks))
        return 0;
    return add_value(&p->values,
                     (value){.byte = a->byte,
                             .ranks = a->ranks | b->ranks,
                             .first = a->first,
                             .last = b->last,
                             .tree = mixed(a->tree, b->tree),
                             .in_order = a->in_order && b->in_order && a->last + 1 == b->first});
}

static bool is_reduction(const play *p) {
    return p->shape.element > 0;
}

static void append(queue *q, const letter *what) {
    letter *copy = allocate(1, sizeof *copy);
    *copy = *what;
    if (!q->first)
        q->end = &q->first;
    *q->end = copy;
    q->end = &copy->next;
}

static letter take(queue *q) {
    letter *first = q->first, copy = *first;
    q->first = first->next;
    free(first);
    return copy;
}

static side *side_of(player *one, const coll_step *step) {
    return &one->sides[step->buffer == COLL_INPUT];
}

/* Returns the start of a step's range in all of the rank's data or input. */
static size_t position_of(const side *of, const coll_step *step) {
    return of->start[of->blocks ? step->block : 0] + step->from;
}

static path *path_of(const play *p, int from, int to, int lane) {
    path **first = &p->players[from].paths;
    for (path *way = *first; way; way = way->next)
        if (way->to == to && way->lane == lane)
            return way;
    path *made = allocate(1, sizeof *made);
    *made = (path){.from = from, .to = to, .lane = lane, .next = *first};
    return *first = made;
}

static void look_at(play *p, path *way) {
    if (way->waits)
        return;
    way->waits = true;
    way->next_waits = p->waiting;
    p->waiting = way;
}

/* Returns whether STEP has both operands in scratch memory. */
static bool is_inside_scratch(const coll_step *step) {
    return !coll_step_is_message(step) && step->buffer == COLL_SCRATCH;
}

/* Checks a step for errors of the plan. */
static bool check_step(play *p, int rank, uint64_t round, const coll_step *step, int which) {
    player *one = &p->players[rank];
    const coll_plan_size *size = &one->plan->size;
    const side *of = side_of(one, step);
    bool is_message = coll_step_is_message(step), is_inside = is_inside_scratch(step),
         is_data = step->length && step->buffer != COLL_SCRATCH,
         writes = step->kind == COLL_STEP_RECEIVE || (!is_message && !step->to_scratch);
    const char *wrong = NULL;
    if (is_message && (step->peer < 0 || step->peer >= p->ranks || step->peer == rank ||
                       step->lane < 0 || step->lane >= COLL_LANES))
        wrong = "peer or lane";
    if (step->at > size->segment || step->length > size->segment - step->at || step->segment < 0 ||
        step->segment >= size->segments)
        wrong = "range in a segment";
    if (step->buffer == COLL_INPUT && writes)
        wrong = "buffer: it writes to the input";
    if (is_inside && (step->block < 0 || step->block >= size->segments ||
                      step->from > size->segment || step->length > size->segment - step->from))
        wrong = "range in the other segment";
    if (is_data &&
        (step->block < 0 || step->block >= of->parts || position_of(of, step) > of->bytes ||
         step->length > of->bytes - position_of(of, step)))
        wrong = "range in the data or input";
    for (int i = 0; i < step->afters; i++)
        if (step->after[i].back < 0 || (uint64_t)step->after[i].back > round ||
            step->after[i].back % coll_plan_streams(size) != 0 || step->after[i].step < 0 ||
            (step->after[i].back == 0 && step->after[i].step >= which))
            wrong = "dependency";
    return !wrong || refuse(p, "rank %d round %" PRIu64 " step %d, %zu bytes: wrong %s", rank,
                            round, which, step->length, wrong);
}

/* Returns whether A and B would share bytes of a segment that is packed on its way. */
static bool collide(const coll_step *a, const coll_step *b) {
    bool pass = (coll_step_is_message(a) && a->buffer != COLL_SCRATCH) ||
                (coll_step_is_message(b) && b->buffer != COLL_SCRATCH);
    bool same = a->buffer == b->buffer && a->block == b->block && a->from == b->from &&
                a->length == b->length;
    return pass && a->length && b->length && !same && a->segment == b->segment &&
           a->at < b->at + b->length && b->at < a->at + a->length;
}

/* Like collide, with the other operands of copies and combinations in scratch memory. */
static bool any_collide(const coll_step *a, const coll_step *b) {
    coll_step c = *a, d = *b;
    c.segment = a->block;
    c.at = a->from;
    d.segment = b->block;
    d.at = b->from;
    return collide(a, b) || (is_inside_scratch(a) && collide(&c, b)) ||
           (is_inside_scratch(b) && collide(a, &d));
}

/* Checks that all messages with the direction, lane and peer of STEP are in one stream. STREAMS has
 * the streams found so far, plus 1. */
static bool check_stream(play *p, int rank, uint64_t round, const coll_step *step, int streams[]) {
    if (!coll_step_is_message(step))
        return true;
    const int own = 1 + (int)(round % (uint64_t)coll_plan_streams(&p->players[rank].plan->size));
    int *found = &streams[(step->peer * COLL_LANES + step->lane) * 2 + step->kind];
    if (*found == 0)
        *found = own;
    return *found == own ||
           refuse(p, "rank %d round %" PRIu64 ": messages of rank %d in two streams", rank, round,
                  step->peer);
}

/* Checks every round of RANK's plan. */
static bool check_plan(play *p, int rank) {
    const coll_plan *plan = p->players[rank].plan;
    const int most = plan->size.steps;
    int *streams = allocate((size_t)p->ranks * COLL_LANES * 2, sizeof *streams);
    /* more than a plan may write, so that one that writes too many is found */
    coll_step *steps = allocate(2 * (size_t)most + 64, sizeof *steps);
    bool good = plan->size.window >= 1 || refuse(p, "rank %d: no window", rank);
    for (uint64_t round = 0; good && round < plan->rounds; round++) {
        int count = plan->round(plan, round, steps);
        good = count <= most || refuse(p, "rank %d round %" PRIu64 ": %d steps, at most %d", rank,
                                       round, count, most);
        for (int i = 0; good && i < count; i++) {
            good = check_step(p, rank, round, &steps[i], i) &&
                   check_stream(p, rank, round, &steps[i], streams);
            for (int j = 0; good && j < i; j++)
                if (any_collide(&steps[i], &steps[j]))
                    good = refuse(p, "rank %d round %" PRIu64 ": two ranges in segment %d", rank,
                                  round, steps[i].segment);
        }
    }
    free(steps);
    free(streams);
    return good;
}

static label *scratch_of(const player *one, const coll_node *node, int segment, size_t at) {
    const coll_plan_size *size = &one->plan->size;
    size_t number =
        (size_t)(node->round % (uint64_t)size->window) * (size_t)size->segments + (size_t)segment;
    return one->scratch + number * size->segment + at;
}

/* Returns the labels of NODE's range, in scratch memory or in the data or input. */
static label *labels_of(player *one, const coll_node *node, bool scratch) {
    const coll_step *step = &node->step;
    const side *of = side_of(one, step);
    if (scratch)
        return scratch_of(one, node, step->segment, step->at);
    return is_inside_scratch(step) ? scratch_of(one, node, step->block, step->from)
                                   : of->labels + position_of(of, step);
}

static bool is_there(const label *byte, const coll_node *node, bool scratch) {
    return byte->value && !byte->writers && (!scratch || byte->round == node->round);
}

/* Returns a copy of the bytes that NODE's step reads, or NULL if they have no value. */
static label *read_bytes(player *one, const coll_node *node, bool scratch) {
    size_t length = node->step.length;
    const label *from = labels_of(one, node, scratch);
    scratch = scratch || is_inside_scratch(&node->step);
    label *bytes = allocate(length, sizeof *bytes);
    for (size_t i = 0; i < length; i++) {
        if (!is_there(&from[i], node, scratch)) {
            free(bytes);
            return NULL;
        }
        bytes[i] = from[i];
    }
    return bytes;
}

/*
 * Writes the bytes of NODE's step. In a reduction, and in an alltoall whose blocks are stored on
 * their way to other ranks, the data may be written more than once, unless a send or receive in
 * progress uses it.
 */
static bool write_bytes(const play *p, player *one, const coll_node *node, bool scratch,
                        const label *bytes) {
    label *into = labels_of(one, node, scratch);
    scratch = scratch || is_inside_scratch(&node->step);
    bool again = scratch || is_reduction(p) || p->call->operation == COLL_OPERATION_ALLTOALL;
    bool in_place = !scratch && p->call->operation == COLL_OPERATION_REDUCE;
    for (size_t i = 0; i < node->step.length; i++) {
        bool there = into[i].value && (!scratch || into[i].round == node->round);
        if (into[i].readers || into[i].writers || (there && !again))
            return false;
        into[i] = (label){.value = bytes[i].value, .round = node->round};
        if (in_place) /* the root's input may be there */
            one->sides[1].labels[node->step.from + i].value = 0;
    }
    return true;
}

/* Adds MORE to the messages of NODE in progress, whose bytes may not be written meanwhile. */
static bool occupy(player *one, const coll_node *node, int more) {
    bool reads = node->step.kind == COLL_STEP_SEND, good = true;
    label *bytes = labels_of(one, node, node->step.buffer == COLL_SCRATCH);
    for (size_t i = 0; i < node->step.length; i++) {
        uint16_t *count = reads ? &bytes[i].readers : &bytes[i].writers;
        if (more > 0 && !reads && (bytes[i].readers || bytes[i].writers))
            good = false;
        *count = (uint16_t)(*count + more);
    }
    return good;
}

/* Adds MORE to the messages with data on WAY. */
static void count_sender(play *p, path *way, int more) {
    int before = way->under_way;
    way->under_way += more;
    if (before == 0 || way->under_way == 0)
        p->senders[way->to] += more;
    if (way->under_way > p->report->under_way)
        p->report->under_way = way->under_way;
    if (p->senders[way->to] > p->report->senders)
        p->report->senders = p->senders[way->to];
}

static void count_message(play *p, path *way, size_t length) {
    const coll_place *from = &p->call->shape.topo->places[way->from],
                     *to = &p->call->shape.topo->places[way->to];
    player *sender = &p->players[way->from];
    if (length > 0)
        count_sender(p, way, 1);
    sender->sending += length > 0;
    if (sender->sending > p->report->sending)
        p->report->sending = sender->sending;
    if (from->rack == to->rack)
        return;
    p->out[from->rack] += length;
    p->into[to->rack] += length;
}

static bool copy(play *p, player *one, const coll_node *node, int number) {
    label *bytes = read_bytes(one, node, !node->step.to_scratch);
    bool good = bytes && write_bytes(p, one, node, node->step.to_scratch, bytes);
    free(bytes);
    if (!good)
        return refuse(p, "rank %d copies bytes that aren't there, or over others", one->rank);
    coll_cursor_complete(&one->cursor, number);
    return true;
}

/*
 * If the result of NODE is made in scratch memory on its way to the data, the operand there is
 * lost.
 */
static bool lose_scratch(player *one, const coll_node *node) {
    label *bytes = labels_of(one, node, true);
    if (node->step.to_scratch || node->step.scratch_first)
        return true;
    for (size_t i = 0; i < node->step.length; i++) {
        if (bytes[i].readers || bytes[i].writers)
            return false;
        bytes[i].value = 0;
    }
    return true;
}

static bool combine(play *p, player *one, const coll_node *node, int number) {
    const coll_step *step = &node->step;
    label *scratch = read_bytes(one, node, true), *other = read_bytes(one, node, false);
    bool good = scratch && other && is_reduction(p);
    for (size_t i = 0; good && i < step->length; i++) {
        uint32_t first = step->scratch_first ? scratch[i].value : other[i].value,
                 second = step->scratch_first ? other[i].value : scratch[i].value;
        scratch[i].value = combined(p, first, second);
        good = scratch[i].value;
    }
    good = good && write_bytes(p, one, node, step->to_scratch, scratch) && lose_scratch(one, node);
    free(scratch);
    free(other);
    if (!good)
        return refuse(p, "rank %d combines what isn't there, or doesn't belong together",
                      one->rank);
    coll_cursor_complete(&one->cursor, number);
    return true;
}

static bool send(play *p, player *one, const coll_node *node, int number) {
    const coll_step *step = &node->step;
    letter what = {.length = step->length,
                   .node = number,
                   .bytes = read_bytes(one, node, step->buffer == COLL_SCRATCH),
                   .knows = one->knows,
                   .number = p->letters++};
    if (!what.bytes)
        return refuse(p, "rank %d sends bytes from %zu on to %d before it has them", one->rank,
                      step->from, step->peer);
    path *way = path_of(p, one->rank, step->peer, step->lane);
    look_at(p, way);
    count_message(p, way, step->length);
    occupy(one, node, 1);
    if (p->call->eager) {
        occupy(one, node, -1);
        what.node = -1;
        coll_cursor_complete(&one->cursor, number);
    }
    append(&way->sent, &what);
    return true;
}

static bool receive(play *p, player *one, const coll_node *node, int number) {
    const coll_step *step = &node->step;
    letter what = {.length = step->length, .node = number};
    if (!occupy(one, node, 1))
        return refuse(p, "rank %d receives from %d what other messages still move", one->rank,
                      step->peer);
    path *way = path_of(p, step->peer, one->rank, step->lane);
    look_at(p, way);
    append(&way->wanted, &what);
    return true;
}

/* Starts all steps that ONE may start. */
static bool start(play *p, player *one, bool *moved) {
    static bool (*const by_kind[])(play * p, player * one, const coll_node *node,
                                   int number) = {[COLL_STEP_SEND] = send,
                                                  [COLL_STEP_RECEIVE] = receive,
                                                  [COLL_STEP_COPY] = copy,
                                                  [COLL_STEP_COMBINE] = combine};
    int number;
    one->idle = true;
    for (const coll_node *node; (node = coll_cursor_start(&one->cursor, &number));) {
        *moved = true;
        if (!by_kind[node->step.kind](p, one, node, number))
            return false;
    }
    return true;
}

/* Delivers the first message of a channel to its receiver. */
static bool deliver(play *p, path *way) {
    letter sent = take(&way->sent), wanted = take(&way->wanted);
    player *one = &p->players[way->to];
    bool good =
        sent.length == wanted.length || refuse(p, "rank %d wants %zu bytes, and %d sends %zu",
                                               way->to, wanted.length, way->from, sent.length);
    const coll_node *node = &one->cursor.nodes[wanted.node];
    occupy(one, node, -1);
    if (good && !write_bytes(p, one, node, node->step.buffer == COLL_SCRATCH, sent.bytes))
        good = refuse(p, "bytes from rank %d come to %d twice", way->from, way->to);
    free(sent.bytes);
    if (!good)
        return false;
    if (sent.length > 0)
        count_sender(p, way, -1);
    player *sender = &p->players[way->from];
    sender->sending -= sent.length > 0;
    one->knows |= sent.knows;
    if (sent.node >= 0) {
        occupy(sender, &sender->cursor.nodes[sent.node], -1);
        coll_cursor_complete(&sender->cursor, sent.node);
    }
    coll_cursor_complete(&one->cursor, wanted.node);
    one->idle = sender->idle = false;
    return true;
}

static bool can_deliver(const path *way) {
    return way->sent.first && way->wanted.first;
}

static bool deliver_all(play *p, bool *moved) {
    while (p->waiting) {
        path *way = p->waiting;
        for (; can_deliver(way); *moved = true)
            if (!deliver(p, way))
                return false;
        p->waiting = way->next_waits;
        way->waits = false;
    }
    return true;
}

/* Returns whether the first message of a channel must arrive as late as possible. */
static bool comes_late(const play *p, const path *way) {
    int to = p->call->starved, from = p->call->slow;
    return way->sent.first->length > 0 && (to < 0 || to == way->to) &&
           (from < 0 || from == way->from);
}

/* Returns whether late message A arrives before B: the oldest first, or the newest if sends are
 * eager, so that messages of different lanes come in either order. */
static bool comes_before(const play *p, const path *a, const path *b) {
    const uint64_t first = a->sent.first->number, second = b->sent.first->number;
    return p->call->eager ? first > second : first < second;
}

/* Delivers one message. Late messages are delivered only if there are no others. */
static bool deliver_one(play *p, bool *moved) {
    path *chosen = NULL;
    bool better = false;
    for (path **at = &p->waiting; *at && !better;) {
        path *way = *at;
        if (!can_deliver(way)) {
            *at = way->next_waits;
            way->waits = false;
            continue;
        }
        better = !comes_late(p, way);
        if (better || !chosen || comes_before(p, way, chosen))
            chosen = way;
        at = &way->next_waits;
    }
    *moved = *moved || chosen;
    return !chosen || deliver(p, chosen);
}

static bool play_on(play *p) {
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < p->ranks; rank++)
            if (!p->players[rank].idle && !start(p, &p->players[rank], &moved))
                return false;
        bool good = true;
        if (p->call->starved < 0 && p->call->slow < 0)
            good = deliver_all(p, &moved);
        else if (!moved) /* no rank can continue without this message */
            good = deliver_one(p, &moved);
        if (!good)
            return false;
    }
    return true;
}

/* --- What ranks begin with, and end with --- */

/* Returns the bytes of the block from one rank to another, or of a rank's block for all ranks. */
static size_t block_bytes(const play *p, int from, int to) {
    const size_t *counts = p->call->counts;
    bool pairs = p->call->operation == COLL_OPERATION_ALLTOALL;
    return counts ? counts[pairs ? from * p->ranks + to : from] : p->shape.bytes;
}

/* Returns the number of byte I of that block, or of data that is not a block. */
static size_t byte_of(const play *p, int from, int to, size_t i) {
    bool pairs = p->call->operation == COLL_OPERATION_ALLTOALL;
    return (((size_t)(from + 1) * 1024 + (pairs ? (size_t)to + 1 : 0)) << 20) + i;
}

/* Sets the sender and the receiver of the block at BLOCK of RANK's data or input; both to RANK if
 * it is not in blocks. */
static void owners_of(const play *p, int rank, bool input, int block, int *from, int *to) {
    bool in_blocks = p->players[rank].sides[input].blocks,
         out = input && p->call->operation == COLL_OPERATION_ALLTOALL;
    int owner = in_blocks ? p->lines[rank]->order[block] : rank;
    *from = out ? rank : owner;
    *to = out ? owner : rank;
}

/* Returns the initial value of byte I of part BLOCK of RANK's data or input, or 0 for none. */
static uint32_t at_first(play *p, int rank, bool input, int block, size_t i) {
    int from, to, root = p->call->shape.root;
    owners_of(p, rank, input, block, &from, &to);
    switch (p->call->operation) {
    case COLL_OPERATION_BCAST:
        return rank == root ? brought(p, root, byte_of(p, root, root, i)) : 0;
    case COLL_OPERATION_ALLREDUCE:
    case COLL_OPERATION_SCAN:
        return brought(p, rank, byte_of(p, 0, 0, i));
    case COLL_OPERATION_REDUCE:
    case COLL_OPERATION_EXSCAN:
        return input ? brought(p, rank, byte_of(p, 0, 0, i)) : 0;
    case COLL_OPERATION_REDUCE_SCATTER:
        return input ? brought(p, rank, byte_of(p, from, from, i)) : 0;
    case COLL_OPERATION_SCATTER:
        return input ? brought(p, root, byte_of(p, from, from, i)) : 0;
    default: /* gather, allgather, alltoall: a rank has its own blocks */
        return input || from == rank ? brought(p, from, byte_of(p, from, to, i)) : 0;
    }
}

/* Returns the ranks whose contributions RANK's results must have. */
static set contributors(const play *p, int rank) {
    set all = (((set)1 << (p->ranks - 1)) - 1) << 1 | 1;
    switch (p->call->operation) {
    case COLL_OPERATION_SCAN:
        return (((set)1 << rank) - 1) << 1 | 1;
    case COLL_OPERATION_EXSCAN:
        return ((set)1 << rank) - 1;
    default:
        return all;
    }
}

/* Returns whether NUMBER is the right final value of byte I of part BLOCK of RANK's data. */
static bool is_right(play *p, int rank, int block, size_t i, uint32_t number) {
    int from, to, root = p->call->shape.root;
    bool scatters = p->call->operation == COLL_OPERATION_REDUCE_SCATTER;
    owners_of(p, rank, false, block, &from, &to);
    if (is_reduction(p)) {
        const value *one = &p->values.all[number];
        set wanted = contributors(p, rank);
        return wanted == 0 ||
               (number && one->byte == byte_of(p, scatters ? rank : 0, scatters ? rank : 0, i) &&
                one->ranks == wanted && (one->in_order || !p->shape.ordered) &&
                (p->call->operation != COLL_OPERATION_ALLREDUCE ||
                 one->tree == p->values.all[p->players[0].sides[0].labels[i].value].tree));
    }
    if (p->call->operation == COLL_OPERATION_BCAST)
        return is_of(p, number, root, byte_of(p, root, root, i));
    if (p->call->operation == COLL_OPERATION_SCATTER)
        return is_of(p, number, root, byte_of(p, rank, rank, i));
    return is_of(p, number, from, byte_of(p, from, to, i));
}

static bool check_data(play *p, int rank) {
    const side *data = &p->players[rank].sides[0];
    for (int block = 0; block < data->parts; block++)
        for (size_t i = data->start[block]; i < data->start[block + 1]; i++)
            if (!is_right(p, rank, block, i - data->start[block], data->labels[i].value))
                return refuse(p, "rank %d ends with a wrong byte at %zu", rank, i);
    if (p->call->operation == COLL_OPERATION_BARRIER &&
        p->players[rank].knows != contributors(p, rank))
        return refuse(p, "rank %d ends before others have begun", rank);
    return true;
}

static bool check_end(play *p) {
    for (int rank = 0; rank < p->ranks; rank++) {
        if (!coll_cursor_ended(&p->players[rank].cursor))
            return refuse(p, "rank %d waits for ever", rank);
        if (!check_data(p, rank))
            return false;
    }
    for (int rank = 0; rank < p->ranks; rank++)
        for (const path *way = p->players[rank].paths; way; way = way->next)
            if (way->sent.first || way->wanted.first)
                return refuse(p, "a message from rank %d to %d is left over", rank, way->to);
    return true;
}

/*
 * Returns a hash of the trees by which the ranks' results were combined, or 0 if one rank has
 * results of several trees.
 */
static uint64_t trees_of(const play *p) {
    uint64_t all = 1;
    for (int rank = 0; rank < p->ranks; rank++) {
        const side *data = &p->players[rank].sides[0];
        if (contributors(p, rank) == 0)
            continue;
        for (size_t i = 0; i < data->bytes; i++)
            if (p->values.all[data->labels[i].value].tree !=
                p->values.all[data->labels[0].value].tree)
                return 0;
        all = mixed(all, data->bytes ? p->values.all[data->labels[0].value].tree : 0);
    }
    return all;
}

/* Makes the blocks of RANK's data or input, in rank order. */
static void furnish_blocks(play *p, int rank, bool input, side *of) {
    size_t longest = 0;
    of->blocks = allocate(1, sizeof *of->blocks);
    of->counts = allocate((size_t)p->ranks, sizeof *of->counts);
    for (int i = 0; i < p->ranks; i++) {
        int from, to;
        owners_of(p, rank, input, i, &from, &to);
        size_t bytes = block_bytes(p, from, to);
        of->start[i] = of->bytes;
        of->counts[p->lines[rank]->order[i]] = (MPI_Count)bytes;
        of->bytes += bytes;
        longest = bytes > longest ? bytes : longest;
    }
    *of->blocks = (coll_blocks){.layout = {.counts = of->counts, .count = (MPI_Count)longest},
                                .ranks = p->ranks,
                                .size = 1,
                                .extent = 1,
                                .longest = {.bytes = longest}};
    if (!p->call->counts)
        of->blocks->layout.counts = NULL;
}

/* Makes the initial data of RANK. */
static void furnish(play *p, int rank, bool input, coll_side kind) {
    side *of = &p->players[rank].sides[input];
    of->parts = kind == COLL_SIDE_BLOCKS ? p->ranks : 1;
    of->start = allocate((size_t)of->parts + 1, sizeof *of->start);
    if (kind == COLL_SIDE_BLOCKS)
        furnish_blocks(p, rank, input, of);
    else if (kind == COLL_SIDE_ONE)
        of->bytes = block_bytes(p, rank, rank);
    of->start[of->parts] = of->bytes;
    of->labels = allocate(of->bytes, sizeof *of->labels);
    for (int block = 0; block < of->parts; block++)
        for (size_t i = of->start[block]; i < of->start[block + 1]; i++)
            of->labels[i].value = at_first(p, rank, input, block, i - of->start[block]);
}

static bool is_same(const coll_plan_size *a, const coll_plan_size *b) {
    return a->window == b->window && a->streams == b->streams && a->steps == b->steps &&
           a->segments == b->segments && a->segment == b->segment && a->own_bytes == b->own_bytes &&
           a->making_bytes == b->making_bytes;
}

static bool seat(play *p, int rank) {
    const prover_call *call = p->call;
    player *one = &p->players[rank];
    const coll_planner *planner = coll_planner_of(call->algorithm, &call->values);
    const coll_sides *sides = &p->shape.sides;
    bool is_root = rank == call->shape.root;
    furnish(p, rank, false, is_root ? sides->root_data : sides->data);
    furnish(p, rank, true, is_root ? sides->root_input : sides->input);
    one->rank = rank;
    one->knows = (set)1 << rank;
    one->part = (coll_plan_args){.shape = &p->shape,
                                 .values = &call->values,
                                 .line = p->lines[rank],
                                 .own = one->sides[0].blocks ? 0 : one->sides[0].bytes,
                                 .blocks = one->sides[0].blocks,
                                 .input = one->sides[1].blocks};
    coll_plan_size size = planner->size(&one->part);
    if (call->segment) {
        size_t segments = coll_segment_count(size.segment, call->segment);
        size.window = coll_plan_window(&size, coll_least((size_t)call->window, segments));
        size.segment = call->segment;
    }
    one->memory = allocate(1, size.own_bytes + size.making_bytes);
    one->plan = planner->plan(&one->part, size, one->memory);
    if (rank > 0 && !is_same(&size, &p->players[0].plan->size))
        return refuse(p, "ranks 0 and %d plan for different sizes", rank);
    if (call->alter)
        one->plan = call->alter(one->plan, rank, call->context);
    one->scratch =
        allocate((size_t)size.window * (size_t)size.segments * size.segment, sizeof *one->scratch);
    one->room = allocate(1, coll_cursor_bytes(&one->plan->size));
    coll_cursor_open(&one->cursor, one->plan, one->room);
    coll_cursor_begin(&one->cursor);
    return check_plan(p, rank);
}

/* Makes the rank order as each rank computes it. */
static void line_up(play *p) {
    size_t ranks = (size_t)p->ranks;
    int *order = allocate(ranks, sizeof *order);
    coll_order_ranks(&p->shape, order);
    for (int position = 0; position < p->ranks; position++) {
        coll_rank_order *line = allocate(1, sizeof *line + ranks * sizeof *order);
        line->position = position;
        memcpy(line->order, order, ranks * sizeof *order);
        p->lines[order[position]] = line;
    }
    free(order);
}

static void clear(queue *q) {
    while (q->first) {
        letter one = take(q);
        free(one.bytes);
    }
}

static void end(play *p) {
    for (int rack = 0; rack < p->call->shape.topo->racks; rack++) {
        if (p->into[rack] > p->report->into_rack)
            p->report->into_rack = p->into[rack];
        if (p->out[rack] > p->report->out_of_rack)
            p->report->out_of_rack = p->out[rack];
    }
    for (int rank = 0; rank < p->ranks; rank++) {
        for (path *way = p->players[rank].paths, *next; way; way = next) {
            next = way->next;
            clear(&way->sent);
            clear(&way->wanted);
            free(way);
        }
        for (int i = 0; i < 2; i++) {
            free(p->players[rank].sides[i].labels);
            free(p->players[rank].sides[i].start);
            free(p->players[rank].sides[i].counts);
            free(p->players[rank].sides[i].blocks);
        }
        free(p->players[rank].scratch);
        free(p->players[rank].room);
        free(p->players[rank].memory);
        free(p->lines[rank]);
    }
    free(p->values.all);
    free(p->lines);
    free(p->out);
    free(p->into);
    free(p->senders);
    free(p->players);
}

bool prover_play(const prover_call *call, prover_report *report) {
    size_t ranks = (size_t)call->shape.topo->ranks, racks = (size_t)call->shape.topo->racks;
    play p = {.call = call, .report = report, .ranks = (int)ranks, .shape = call->shape};
    *report = (prover_report){.problem = ""};
    p.shape.operation = call->operation;
    p.shape.sides = coll_operations[call->operation].sides;
    p.values = (values){.all = allocate(1024, sizeof *p.values.all), .count = 1, .room = 1024};
    p.players = allocate(ranks, sizeof *p.players);
    p.into = allocate(racks, sizeof *p.into);
    p.out = allocate(racks, sizeof *p.out);
    p.senders = allocate(ranks, sizeof *p.senders);
    p.lines = allocate(ranks, sizeof(coll_rank_order *));
    line_up(&p);
    bool good = true;
    for (int rank = 0; rank < p.ranks && good; rank++)
        good = seat(&p, rank);
    good = good && play_on(&p) && check_end(&p);
    if (good && is_reduction(&p))
        report->trees = trees_of(&p);
    end(&p);
    return good;
}
