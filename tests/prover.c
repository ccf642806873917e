#include "tests/prover.h"

#include "lib/pattern/order.h"
#include "lib/schedule/cursor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A byte's label says which of all bytes of the call it is, counted from 1; 0: it isn't there. One
 * in scratch memory is there only in the round that put it there.
 */
typedef struct label {
    size_t byte;
    uint64_t round;
} label;

/* A message that was sent, or a receive that waits for one. */
typedef struct letter {
    size_t length;
    int node; /* of the cursor of whom it belongs to; -1: complete there already */
    label *bytes;
    uint64_t number; /* in the order in which all are sent */
    struct letter *next;
} letter;

typedef struct queue {
    letter *first, **end;
} queue;

/* From one rank to another, on one lane. */
typedef struct path {
    int from, to, lane;
    queue sent, wanted;
    int under_way;           /* messages with data */
    bool waits;              /* to be looked at */
    struct path *next;       /* from the same rank */
    struct path *next_waits; /* of those to be looked at */
} path;

typedef struct player {
    coll_part part;
    const coll_plan *plan;
    void *memory, *room;
    coll_cursor cursor;
    size_t own;    /* bytes of its data */
    size_t *start; /* of each block of the data, by position; of one that has one block: 0 */
    coll_blocks blocks;
    label *data, *scratch;
    path *paths; /* from this rank */
    int sending; /* messages with data */
    bool idle;   /* nothing is complete since it started what it could */
} player;

typedef struct play {
    const prover_call *call;
    prover_report *report;
    int ranks;
    player *players;
    coll_line **lines; /* one a rank */
    MPI_Count *counts; /* of a gather: of each rank */
    uint64_t letters;  /* sent so far */
    path *waiting;     /* where something came since they were looked at */
    size_t *into, *out;
    int *senders; /* to each rank: ranks from which messages with data are under way */
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
        abort(); /* not by Check, whose assertions cost a system call each */
    return memory;
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

/* Where a step's range of data begins in all the rank's data. */
static size_t position_of(const player *one, const coll_step *step) {
    return (one->start ? one->start[step->block] : 0) + step->from;
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

/* What a plan may not do, step by step. */
static bool check_step(play *p, int rank, uint64_t round, const coll_step *step, int which) {
    const player *one = &p->players[rank];
    const coll_plan_size *size = &one->plan->size;
    bool is_message = step->kind != COLL_STEP_COPY;
    if (is_message && (step->peer < 0 || step->peer >= p->ranks || step->peer == rank ||
                       step->lane < 0 || step->lane >= COLL_LANES))
        return refuse(p, "rank %d round %llu step %d: peer %d on lane %d", rank,
                      (unsigned long long)round, which, step->peer, step->lane);
    if (step->at > size->segment || step->length > size->segment - step->at || step->segment < 0 ||
        step->segment >= size->segments)
        return refuse(p, "rank %d round %llu step %d: %zu bytes at %zu in segment %d", rank,
                      (unsigned long long)round, which, step->length, step->at, step->segment);
    bool is_data = step->length && (!is_message || !step->scratch);
    if (is_data &&
        (step->block < 0 || step->block >= (one->start ? p->ranks : 1) ||
         position_of(one, step) > one->own || step->length > one->own - position_of(one, step)))
        return refuse(p, "rank %d round %llu step %d: %zu bytes from %zu of block %d", rank,
                      (unsigned long long)round, which, step->length, step->from, step->block);
    for (int i = 0; i < step->afters; i++)
        if (step->after[i].back < 0 || (uint64_t)step->after[i].back > round ||
            step->after[i].step < 0 || (step->after[i].back == 0 && step->after[i].step >= which))
            return refuse(p, "rank %d round %llu step %d: after step %d, %d rounds back", rank,
                          (unsigned long long)round, which, step->after[i].step,
                          step->after[i].back);
    return true;
}

/* Whether two ranges of data share bytes of a segment that they would pass through. */
static bool collide(const coll_step *a, const coll_step *b) {
    bool data = !a->scratch && !b->scratch && a->length && b->length;
    bool same = a->block == b->block && a->from == b->from && a->length == b->length;
    return data && !same && a->segment == b->segment && a->at < b->at + b->length &&
           b->at < a->at + a->length;
}

/* Every round of RANK's plan. */
static bool check_plan(play *p, int rank) {
    const coll_plan *plan = p->players[rank].plan;
    coll_step *steps = allocate((size_t)plan->size.steps, sizeof *steps);
    bool good = plan->size.window >= 1 || refuse(p, "rank %d: no window", rank);
    for (uint64_t round = 0; good && round < plan->rounds; round++) {
        int count = plan->round(plan, round, steps);
        for (int i = 0; good && i < count; i++) {
            good = check_step(p, rank, round, &steps[i], i);
            for (int j = 0; good && j < i; j++)
                if (collide(&steps[i], &steps[j]))
                    good = refuse(p, "rank %d round %llu: two ranges in segment %d", rank,
                                  (unsigned long long)round, steps[i].segment);
        }
    }
    free(steps);
    return good;
}

static label *scratch_of(const player *one, const coll_node *node) {
    const coll_plan_size *size = &one->plan->size;
    size_t segment = (size_t)(node->round % (uint64_t)size->window) * (size_t)size->segments +
                     (size_t)node->step.segment;
    return one->scratch + segment * size->segment + node->step.at;
}

/* The bytes of NODE's step, which sends or copies them: in memory of their own, or NULL. */
static label *read_bytes(const player *one, const coll_node *node) {
    const coll_step *step = &node->step;
    bool scratch = step->kind == COLL_STEP_SEND && step->scratch;
    const label *from = scratch ? scratch_of(one, node) : one->data + position_of(one, step);
    label *bytes = allocate(step->length, sizeof *bytes);
    for (size_t i = 0; i < step->length; i++) {
        if (!from[i].byte || (scratch && from[i].round != node->round)) {
            free(bytes);
            return NULL;
        }
        bytes[i] = from[i];
    }
    return bytes;
}

static bool write_bytes(const player *one, const coll_node *node, const label *bytes) {
    const coll_step *step = &node->step;
    bool scratch = step->kind == COLL_STEP_COPY || step->scratch;
    label *into = scratch ? scratch_of(one, node) : one->data + position_of(one, step);
    for (size_t i = 0; i < step->length; i++) {
        if (into[i].byte && (!scratch || into[i].round == node->round))
            return false;
        into[i] = (label){bytes[i].byte, node->round};
    }
    return true;
}

/* A message with data is on its WAY, or has arrived. */
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

static bool copy(play *p, int rank, int number) {
    player *one = &p->players[rank];
    const coll_node *node = &one->cursor.nodes[number];
    label *bytes = read_bytes(one, node);
    bool good = bytes && write_bytes(one, node, bytes);
    free(bytes);
    if (!good)
        return refuse(p, "rank %d copies bytes that aren't there, or over others", rank);
    coll_cursor_complete(&one->cursor, number);
    return true;
}

static bool send(play *p, int rank, int number) {
    player *one = &p->players[rank];
    const coll_node *node = &one->cursor.nodes[number];
    const coll_step *step = &node->step;
    letter what = {step->length, number, read_bytes(one, node), p->letters++, NULL};
    if (!what.bytes)
        return refuse(p, "rank %d sends bytes from %zu on to %d before it has them", rank,
                      step->from, step->peer);
    path *way = path_of(p, rank, step->peer, step->lane);
    look_at(p, way);
    count_message(p, way, step->length);
    if (p->call->eager) {
        what.node = -1;
        coll_cursor_complete(&one->cursor, number);
    }
    append(&way->sent, &what);
    return true;
}

static bool receive(play *p, int rank, int number) {
    const coll_step *step = &p->players[rank].cursor.nodes[number].step;
    letter what = {.length = step->length, .node = number};
    path *way = path_of(p, step->peer, rank, step->lane);
    look_at(p, way);
    append(&way->wanted, &what);
    return true;
}

/* Starts all that RANK may start. */
static bool start(play *p, int rank, bool *moved) {
    static bool (*const by_kind[])(play * p, int rank, int number) = {
        [COLL_STEP_SEND] = send, [COLL_STEP_RECEIVE] = receive, [COLL_STEP_COPY] = copy};
    player *one = &p->players[rank];
    int number;
    one->idle = true;
    for (const coll_node *node; (node = coll_cursor_start(&one->cursor, &number));) {
        *moved = true;
        if (!by_kind[node->step.kind](p, rank, number))
            return false;
    }
    return true;
}

/* The first message of a path reaches who wants it. */
static bool deliver(play *p, path *way) {
    letter sent = take(&way->sent), wanted = take(&way->wanted);
    player *one = &p->players[way->to];
    bool good =
        sent.length == wanted.length || refuse(p, "rank %d wants %zu bytes, and %d sends %zu",
                                               way->to, wanted.length, way->from, sent.length);
    if (good && !write_bytes(one, &one->cursor.nodes[wanted.node], sent.bytes))
        good = refuse(p, "bytes from rank %d come to %d twice", way->from, way->to);
    free(sent.bytes);
    if (!good)
        return false;
    if (sent.length > 0)
        count_sender(p, way, -1);
    p->players[way->from].sending -= sent.length > 0;
    if (sent.node >= 0)
        coll_cursor_complete(&p->players[way->from].cursor, sent.node);
    coll_cursor_complete(&one->cursor, wanted.node);
    one->idle = p->players[way->from].idle = false;
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

/* Whether the first message of a path is to come as late as can be. */
static bool comes_late(const play *p, const path *way) {
    int to = p->call->starved, from = p->call->slow;
    return way->sent.first->length > 0 && (to < 0 || to == way->to) &&
           (from < 0 || from == way->from);
}

/* One message; one that comes late only where there is no other, the oldest first. */
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
        if (better || !chosen || way->sent.first->number < chosen->sent.first->number)
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
            if (!p->players[rank].idle && !start(p, rank, &moved))
                return false;
        bool good = true;
        if (p->call->starved < 0 && p->call->slow < 0)
            good = deliver_all(p, &moved);
        else if (!moved) /* nobody can go on without */
            good = deliver_one(p, &moved);
        if (!good)
            return false;
    }
    return true;
}

/* The number of byte I of the data of who has all of it, or of RANK's own block of a gather. */
static size_t number_of(const play *p, int rank, size_t i) {
    const player *root = &p->players[p->call->shape.root];
    return (p->call->counts && rank != p->call->shape.root ? root->start[p->lines[rank]->position]
                                                           : 0) +
           i + 1;
}

static bool check_data(play *p, int rank) {
    const player *one = &p->players[rank];
    for (size_t i = 0; i < one->own; i++)
        if (one->data[i].byte != number_of(p, rank, i))
            return refuse(p, "rank %d ends with a wrong byte at %zu", rank, i);
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

/* What RANK has at first: at a gather's root all blocks one after the other, of which its own is
 * there; else its block, or a broadcast's data, which the root has. */
static void furnish(play *p, int rank) {
    const prover_call *call = p->call;
    player *one = &p->players[rank];
    bool is_root = rank == call->shape.root;
    one->own = call->counts ? call->counts[rank] : call->shape.bytes;
    size_t there = is_root || call->counts ? one->own : 0, longest = 0;
    if (call->counts && is_root) {
        one->start = allocate((size_t)p->ranks, sizeof *one->start);
        one->own = 0;
        for (int i = 0; i < p->ranks; i++) {
            one->start[i] = one->own;
            one->own += call->counts[p->lines[rank]->order[i]];
            if (call->counts[i] > longest)
                longest = call->counts[i];
        }
        one->blocks = (coll_blocks){.layout = {.counts = p->counts},
                                    .ranks = p->ranks,
                                    .size = 1,
                                    .extent = 1,
                                    .longest = {.bytes = longest}};
    }
    one->data = allocate(one->own, sizeof *one->data);
    for (size_t i = 0; i < there; i++)
        one->data[i].byte = number_of(p, rank, i);
}

static bool seat(play *p, int rank) {
    const prover_call *call = p->call;
    player *one = &p->players[rank];
    const coll_planner *planner = coll_planner_of(call->algorithm, &call->values);
    bool gathers = one->start;
    one->part = (coll_part){.shape = &call->shape,
                            .values = &call->values,
                            .line = p->lines[rank],
                            .own = gathers ? 0 : one->own,
                            .blocks = gathers ? &one->blocks : NULL};
    coll_plan_size size = planner->size(&one->part);
    if (call->segment) {
        size_t segments = coll_segment_count(size.segment, call->segment);
        size.window = (int)coll_least((size_t)call->window, segments);
        size.segment = call->segment;
    }
    one->memory = allocate(1, size.own_bytes);
    one->plan = planner->plan(&one->part, size, one->memory);
    if (rank > 0 && memcmp(&size, &p->players[0].plan->size, sizeof size) != 0)
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

/* The line of the ranks, as each of them sees it. */
static void line_up(play *p) {
    const coll_topo *topo = p->call->shape.topo;
    size_t ranks = (size_t)p->ranks;
    coll_visit *visits = allocate(ranks, sizeof *visits);
    int *order = allocate(ranks, sizeof *order);
    coll_order_chain(topo, p->call->shape.root, visits, order);
    for (int position = 0; position < p->ranks; position++) {
        coll_line *line = allocate(1, sizeof *line + ranks * sizeof *order);
        line->position = position;
        memcpy(line->order, order, ranks * sizeof *order);
        p->lines[order[position]] = line;
    }
    free(order);
    free(visits);
    p->counts = allocate(ranks, sizeof *p->counts);
    for (size_t rank = 0; p->call->counts && rank < ranks; rank++)
        p->counts[rank] = (MPI_Count)p->call->counts[rank];
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
        free(p->players[rank].data);
        free(p->players[rank].start);
        free(p->players[rank].scratch);
        free(p->players[rank].room);
        free(p->players[rank].memory);
        free(p->lines[rank]);
    }
    free(p->counts);
    free(p->lines);
    free(p->out);
    free(p->into);
    free(p->senders);
    free(p->players);
}

bool prover_play(const prover_call *call, prover_report *report) {
    size_t ranks = (size_t)call->shape.topo->ranks, racks = (size_t)call->shape.topo->racks;
    play p = {.call = call, .report = report, .ranks = (int)ranks};
    *report = (prover_report){.problem = ""};
    p.players = allocate(ranks, sizeof *p.players);
    p.into = allocate(racks, sizeof *p.into);
    p.out = allocate(racks, sizeof *p.out);
    p.senders = allocate(ranks, sizeof *p.senders);
    p.lines = allocate(ranks, sizeof(coll_line *));
    line_up(&p);
    furnish(&p, call->shape.root); /* whose blocks the others' bytes are numbered by */
    bool good = true;
    for (int rank = 0; rank < p.ranks; rank++)
        if (rank != call->shape.root)
            furnish(&p, rank);
    for (int rank = 0; rank < p.ranks && good; rank++)
        good = seat(&p, rank);
    good = good && play_on(&p) && check_end(&p);
    end(&p);
    return good;
}
