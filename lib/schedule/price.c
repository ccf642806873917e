#include "config.h"

#include "lib/schedule/price.h"

#include "lib/base/comm.h"
#include "lib/base/error.h"
#include "lib/schedule/agenda.h"
#include "lib/schedule/cursor.h"
#include "lib/schedule/network.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1, LETTERS_MOST = 1 << 18 };

/* What happens to a letter next, but for its ways through the network's links. */
typedef enum stage {
    SENT = COLL_WAYS + 1, /* the sender's processor is done with it */
    COMES,                /* its first byte is at the port of its receiver's host */
    ARRIVES,              /* it has passed that */
    RECEIVED,             /* the receiver's processor is done with it */
    COPIED                /* no letter: a copy in its sender's memory */
} stage;

/* A message under way. */
typedef struct letter {
    int path, stage;
    int sent, wanted; /* nodes of the sender's cursor, NONE if complete there, and the receiver's */
    bool slips;       /* between others */
    bool waits;       /* for its receiver's port, */
    bool queues;      /* for a link that others share */
    size_t bytes;
    int64_t start;
    int64_t arrival; /* or, when it comes, what is left until then */
} letter;

/* Letters, or nodes of a cursor, one behind the other; an array has the next of each. */
typedef struct queue {
    int first, last;
} queue;

/* From one rank to another on one lane. */
typedef struct path {
    int from, to;         /* players: positions in the line */
    int sender, receiver; /* ranks */
    int lane;
    coll_level level;
    int64_t latest; /* the last message's arrival: none overtakes those that were sent before */
    size_t waiting; /* bytes, for its receiver's port, */
    size_t queued[COLL_WAYS]; /* and for links that others share */
    int in_line;              /* messages on their way that don't slip between others, */
    int talks;                /* and of these the long ones */
    int opposite;             /* the path back, NONE before a long message */
    int held;                 /* messages that wait for their turn, when none talks there */
    queue listens;            /* those that wait for this one */
    uint64_t taken;           /* messages */
    queue arrived;            /* letters that nobody has asked for */
    queue wanted;             /* nodes that wait for a letter */
    int next;                 /* of those with the same hash */
} path;

typedef struct player {
    coll_part part;
    const coll_plan *plan;
    coll_cursor cursor;
    int64_t busy; /* its processor: until then */
    int *next;    /* by node: the next one that waits for a letter of the same path */
} player;

typedef struct play {
    const coll_price_call *call;
    coll_price *price;
    coll_shape shape;
    coll_values values;
    coll_blocks blocks; /* of a gather's root */
    coll_line *line;    /* of all ranks: its position is that of the one whose turn it is */
    int *positions;     /* of all ranks in it */
    player *players;    /* by position */
    coll_network network;
    coll_plan_size plan_size;
    coll_agenda agenda;
    letter *letters;
    int *next_letter;
    path *paths;
    int *first_path; /* by hash */
    int unused;      /* the first letter that is free again */
    int letters_used, paths_used;
    int64_t now, end;
    int most; /* letters, paths and events at a time */
    char *room;
    size_t left; /* bytes of it */
} play;

/* --- Messages and who waits for them --- */

static void append(queue *q, int next[], int what) {
    if (q->first == NONE)
        q->first = what;
    else
        next[q->last] = what;
    q->last = what;
    next[what] = NONE;
}

/* NONE: it is empty. */
static int take(queue *q, const int next[]) {
    int first = q->first;
    if (first != NONE)
        q->first = next[first];
    return first;
}

static int hashes(const play *p) {
    int few = 2 * p->shape.topo->ranks, many = p->most / 4;
    return few > many ? few : many;
}

/* From one player to another; NONE: there is no room. */
static int path_of(play *p, int from, int to, int lane) {
    const int ranks[] = {p->line->order[from], p->line->order[to]};
    uint64_t key = ((uint64_t)ranks[0] * 31 + (uint64_t)ranks[1]) * COLL_LANES + (uint64_t)lane;
    int *first = &p->first_path[key % (uint64_t)hashes(p)];
    for (int i = *first; i != NONE; i = p->paths[i].next) {
        const path *way = &p->paths[i];
        if (way->sender == ranks[0] && way->receiver == ranks[1] && way->lane == lane)
            return i;
    }
    if (p->paths_used == p->most)
        return NONE;
    p->paths[p->paths_used] = (path){.from = from,
                                     .to = to,
                                     .sender = ranks[0],
                                     .receiver = ranks[1],
                                     .lane = lane,
                                     .level = coll_topo_level(p->shape.topo, ranks[0], ranks[1]),
                                     .arrived = {NONE, NONE},
                                     .wanted = {NONE, NONE},
                                     .opposite = NONE,
                                     .listens = {NONE, NONE},
                                     .next = *first};
    return *first = p->paths_used++;
}

static int new_letter(play *p) {
    int number = p->unused;
    if (number != NONE)
        p->unused = p->next_letter[number];
    else if (p->letters_used < p->most)
        number = p->letters_used++;
    return number;
}

static void free_letter(play *p, int number) {
    p->next_letter[number] = p->unused;
    p->unused = number;
}

/* --- Time --- */

static bool exceed(play *p) {
    p->price->time = COLL_PRICE_UNKNOWN;
    return false;
}

/* The letter's next stage comes at TIME, and is that of the player WHOSE. Of those at one time the
 * order is that of the line: so only the ranks' places count, not their numbers. */
static bool plan_stage(play *p, int number, int next, int whose, int64_t time) {
    p->letters[number].stage = next;
    if (++p->price->events > p->call->budget || !coll_agenda_add(&p->agenda, time, whose, number))
        return exceed(p);
    return true;
}

/* The processor of the player WHO works on the letter for so long, once it is free, and then comes
 * its stage. */
static bool work(play *p, int who, int64_t duration, int number, int next) {
    player *one = &p->players[who];
    one->busy = (one->busy > p->now ? one->busy : p->now) + duration;
    return plan_stage(p, number, next, who, one->busy);
}

/* --- Steps --- */

/* A letter has arrived and is wanted. */
static bool take_up(play *p, int number) {
    const letter *one = &p->letters[number];
    const path *way = &p->paths[one->path];
    const coll_toll *toll = coll_network_toll(&p->network, way->level, one->bytes);
    bool idle = p->players[way->to].busy < p->now;
    return work(p, way->to, toll->take + (idle ? toll->wake : 0), number, RECEIVED);
}

/* Whether it goes once its receiver is ready for it. */
static bool is_long(const letter *one) {
    return one->bytes >= COLL_PRICE_EAGER;
}

/* Two long messages in opposite directions between hosts take turns, as a TCP connection of Open
 * MPI has it. */
static bool takes_turns(const play *p, const letter *one) {
    return is_long(one) && p->paths[one->path].level > COLL_LEVEL_NODE;
}

static bool send(play *p, int who, int node) {
    const coll_step *step = &p->players[who].cursor.nodes[node].step;
    int to = p->positions[step->peer], number = new_letter(p),
        way = path_of(p, who, to, step->lane);
    if (number == NONE || way == NONE)
        return exceed(p);
    p->letters[number] = (letter){.path = way, .sent = node, .bytes = step->length};
    if (takes_turns(p, &p->letters[number]) && p->paths[way].opposite == NONE) {
        const int back = path_of(p, to, who, step->lane);
        if (back == NONE)
            return exceed(p);
        p->paths[way].opposite = back;
    }
    const coll_toll *toll = coll_network_toll(&p->network, p->paths[way].level, step->length);
    return work(p, who, toll->send, number, SENT);
}

static bool receive(play *p, int who, int node) {
    player *one = &p->players[who];
    const coll_step *step = &one->cursor.nodes[node].step;
    int number = path_of(p, p->positions[step->peer], who, step->lane);
    if (number == NONE)
        return exceed(p);
    path *way = &p->paths[number];
    int there = take(&way->arrived, p->next_letter);
    if (there == NONE) {
        append(&way->wanted, one->next, node);
        return true;
    }
    p->letters[there].wanted = node;
    return take_up(p, there);
}

static bool copy(play *p, int who, int node) {
    const coll_step *step = &p->players[who].cursor.nodes[node].step;
    int number = new_letter(p);
    if (number == NONE)
        return exceed(p);
    p->letters[number] = (letter){.path = who, .sent = node};
    return work(p, who, coll_network_copy(&p->network, step->length), number, COPIED);
}

/* Starts all that the player WHO may start. */
static bool start(play *p, int who) {
    static bool (*const by_kind[])(play * p, int who, int node) = {[COLL_STEP_SEND] = send,
                                                                   [COLL_STEP_RECEIVE] = receive,
                                                                   [COLL_STEP_COPY] = copy,
                                                                   [COLL_STEP_COMBINE] = copy};
    player *one = &p->players[who];
    int node;
    p->line->position = who;
    for (const coll_node *started; (started = coll_cursor_start(&one->cursor, &node));)
        if (!by_kind[started->step.kind](p, who, node))
            return false;
    return true;
}

static bool is_halfway(const player *one) {
    return one->cursor.first >= one->plan->rounds / 2;
}

static bool complete(play *p, int who, int node) {
    player *one = &p->players[who];
    const bool was_halfway = is_halfway(one);
    coll_cursor_complete(&one->cursor, node);
    p->end = p->now;
    if (p->call->ends)
        p->call->ends[p->line->order[who]] = p->now;
    const bool good = start(p, who);
    if (!was_halfway && is_halfway(one))
        p->price->halfway = p->now;
    return good;
}

/* --- The ways of letters --- */

/* The letter has come, in the order of its path, to who may want it. */
static bool arrive(play *p, int number) {
    letter *one = &p->letters[number];
    path *way = &p->paths[one->path];
    int wanted = take(&way->wanted, p->players[way->to].next);
    one->arrival = p->now;
    way->in_line -= !one->slips;
    if (wanted == NONE) {
        append(&way->arrived, p->next_letter, number);
        return true;
    }
    one->wanted = wanted;
    return take_up(p, number);
}

static bool come(play *p, int number) {
    letter *one = &p->letters[number];
    path *way = &p->paths[one->path];
    const coll_toll *toll = coll_network_toll(&p->network, way->level, one->bytes);
    int64_t begin = coll_network_enter(&p->network, way->sender, way->receiver, toll, one->slips,
                                       way->in_line <= 1, &way->waiting, p->now);
    int64_t arrival = begin + one->arrival;
    one->waits = one->waits || begin > p->now;
    way->latest = arrival > way->latest ? arrival : way->latest;
    return plan_stage(p, number, ARRIVES, way->to, way->latest);
}

/* From link NTH of its way on, as far as it can go now. */
static bool travel(play *p, int number, int nth) {
    letter *one = &p->letters[number];
    path *way = &p->paths[one->path];
    const coll_toll *toll = coll_network_toll(&p->network, way->level, one->bytes);
    const int from = p->line->order[way->from], to = way->receiver;
    if (one->queues)
        coll_network_dequeue(&p->network, from, to, toll, nth - 1, &way->queued[nth - 1]);
    one->queues = false;
    for (; nth < COLL_WAYS; nth++) {
        int64_t on = coll_network_pass(&p->network, from, to, toll, nth, one->slips, p->now);
        if (nth == 0) {
            one->start = on;
            one->waits = coll_network_post(&p->network, to, toll, &way->waiting);
        }
        one->queues = nth > 0 && on > p->now;
        if (one->queues)
            on = coll_network_queue(&p->network, from, to, toll, nth, way->in_line <= 1,
                                    &way->queued[nth], on);
        if (on > p->now)
            return plan_stage(p, number, nth + 1, way->from, on);
    }
    bool inside = way->level <= COLL_LEVEL_NODE;
    int64_t apart = coll_network_way(&p->network, way->sender, way->receiver, toll),
            wire = inside             ? 0
                   : toll->in < apart ? toll->in
                                      : apart;
    one->arrival = wire;
    return plan_stage(p, number, COMES, way->to, p->now + apart - wire);
}

static bool leave(play *p, int number) {
    letter *one = &p->letters[number];
    if (!is_long(one)) {
        int node = one->sent;
        one->sent = NONE;
        if (!complete(p, p->paths[one->path].from, node))
            return false;
    }
    path *way = &p->paths[one->path];
    one->slips = one->bytes <= COLL_PACKET && way->in_line == 0;
    way->in_line += !one->slips;
    way->talks += takes_turns(p, one);
    return travel(p, number, 0);
}

/* Leaves, or waits until those back are there, and behind others that do. */
static bool leave_in_turn(play *p, int number) {
    const letter *one = &p->letters[number];
    path *way = &p->paths[one->path];
    if (way->held == 0 &&
        (way->talks > 0 || !takes_turns(p, one) || p->paths[way->opposite].talks == 0))
        return leave(p, number);
    way->held++;
    append(&p->paths[way->opposite].listens, p->next_letter, number);
    return true;
}

/* It has come. If it was the last one in its turn those that wait for it leave. */
static bool come_in_turn(play *p, int number) {
    letter *one = &p->letters[number];
    path *way = &p->paths[one->path];
    const bool took_turn = takes_turns(p, one);
    if (!arrive(p, number))
        return false;
    way->talks -= took_turn;
    if (!took_turn || way->talks > 0)
        return true;
    for (int next; (next = take(&way->listens, p->next_letter)) != NONE;) {
        p->paths[p->letters[next].path].held--;
        if (!leave(p, next))
            return false;
    }
    return true;
}

static bool received(play *p, int number) {
    const letter one = p->letters[number];
    path *way = &p->paths[one.path];
    uint64_t nth = way->taken++;
    if (p->call->watch) {
        const coll_price_message message = {.from = way->sender,
                                            .to = way->receiver,
                                            .lane = way->lane,
                                            .nth = nth,
                                            .bytes = one.bytes,
                                            .level = way->level,
                                            .start = one.start,
                                            .arrival = one.arrival,
                                            .end = p->now};
        p->call->watch(&message, p->call->context);
    }
    free_letter(p, number);
    return (one.sent == NONE || complete(p, way->from, one.sent)) &&
           complete(p, way->to, one.wanted);
}

static bool go_on(play *p, int number) {
    const letter one = p->letters[number];
    switch (one.stage) {
    case SENT:
        return leave_in_turn(p, number);
    case COMES:
        return come(p, number);
    case ARRIVES:
        if (one.waits)
            coll_network_leave(&p->network, p->paths[one.path].receiver, one.bytes,
                               &p->paths[one.path].waiting);
        return come_in_turn(p, number);
    case RECEIVED:
        return received(p, number);
    case COPIED:
        free_letter(p, number);
        return complete(p, one.path, one.sent);
    default:
        return travel(p, number, one.stage);
    }
}

/* --- Plays --- */

/* What BYTES of the room are for; NULL: there is not so much, nor anything from now on, so that the
 * last of several tells of all. */
static void *take_room(play *p, size_t bytes) {
    void *taken = coll_comm_room_cut(&p->room, &p->left, bytes);
    if (!taken)
        p->left = 0;
    return taken;
}

/* A cursor has no more rounds under way than the plan has. */
static coll_plan_size size_of(const coll_plan *plan) {
    coll_plan_size size = plan->size;
    if ((uint64_t)size.window > plan->rounds)
        size.window = plan->rounds ? (int)plan->rounds : 1;
    return size;
}

static bool seat(play *p, int who) {
    player *one = &p->players[who];
    p->line->position = who;
    void *memory = take_room(p, p->plan_size.own_bytes);
    if (!memory || p->left < p->plan_size.making_bytes)
        return false;
    coll_plan *plan = p->call->planner->plan(&one->part, p->plan_size, memory);
    if (p->call->rounds && p->call->rounds < plan->rounds)
        plan->rounds = p->call->rounds;
    const coll_plan_size size = plan->size = size_of(plan);
    one->plan = plan;
    memory = take_room(p, coll_cursor_bytes(&size));
    one->next = take_room(p, (size_t)size.window * (size_t)size.steps * sizeof(int));
    one->busy = 0;
    if (!memory || !one->next)
        return false;
    coll_cursor_open(&one->cursor, one->plan, memory);
    coll_cursor_begin(&one->cursor);
    return true;
}

coll_part coll_price_part(const coll_shape *shape, const coll_values *values, const coll_line *line,
                          bool is_root, coll_blocks *even) {
    const coll_sides *sides = &shape->sides;
    coll_side data = is_root ? sides->root_data : sides->data,
              input = is_root ? sides->root_input : sides->input;
    *even = (coll_blocks){.layout = {.count = (MPI_Count)shape->bytes},
                          .ranks = shape->topo->ranks,
                          .size = 1,
                          .extent = 1,
                          .longest = {.bytes = shape->bytes}};
    return (coll_part){.shape = shape,
                       .values = values,
                       .line = line,
                       .own = data == COLL_SIDE_ONE ? shape->bytes : 0,
                       .blocks = data == COLL_SIDE_BLOCKS ? even : NULL,
                       .input = input == COLL_SIDE_BLOCKS ? even : NULL};
}

static void deal(play *p) {
    for (int who = 0; who < p->shape.topo->ranks; who++)
        p->players[who].part = coll_price_part(&p->shape, &p->values, p->line,
                                               p->line->order[who] == p->shape.root, &p->blocks);
}

/* The ranks in their line, where others than those that work find it later. */
static bool line_up(play *p) {
    size_t ranks = (size_t)p->shape.topo->ranks;
    p->line = take_room(p, sizeof(coll_line) + ranks * sizeof(int));
    p->positions = take_room(p, ranks * sizeof(int));
    p->players = take_room(p, (size_t)p->shape.topo->ranks * sizeof(player));
    coll_visit *visits = take_room(p, ranks * sizeof(coll_visit));
    if (!visits)
        return false;
    coll_order_line(&p->shape, visits, p->line->order);
    for (size_t position = 0; position < ranks; position++)
        p->positions[p->line->order[position]] = (int)position;
    return true;
}

static bool set_up(play *p) {
    const coll_topo *topo = p->shape.topo;
    size_t most = (size_t)p->most;
    if (!line_up(p))
        return false;
    deal(p);
    void *network = take_room(p, coll_network_bytes(topo));
    p->letters = take_room(p, most * sizeof(letter));
    p->next_letter = take_room(p, most * sizeof(int));
    p->paths = take_room(p, most * sizeof(path));
    p->agenda =
        (coll_agenda){.events = take_room(p, most * sizeof(coll_event)), .capacity = (int)most};
    p->first_path = take_room(p, (size_t)hashes(p) * sizeof(int));
    if (!p->first_path)
        return false;
    coll_network_open(&p->network, &p->shape, p->call->whole, network);
    for (int i = 0; i < hashes(p); i++)
        p->first_path[i] = NONE;
    p->unused = NONE;
    p->plan_size = p->call->planner->size(&p->players[0].part);
    for (int who = 0; who < p->shape.topo->ranks; who++)
        if (!seat(p, who))
            return false;
    return true;
}

/* Not that it takes so long: it may take longer. */
static int leave_early(play *p) {
    p->price->time = p->call->enough;
    p->price->lossy = p->network.lossy;
    return MPI_SUCCESS;
}

static int play_to_end(play *p) {
    const int ranks = p->shape.topo->ranks;
    const int64_t enough = p->call->enough ? p->call->enough : INT64_MAX;
    bool good = set_up(p) || exceed(p);
    for (int who = 0; who < ranks && good; who++)
        good = start(p, who);
    for (coll_event event; good && coll_agenda_take(&p->agenda, &event);) {
        p->now = event.time;
        if (p->now >= enough)
            return leave_early(p);
        good = go_on(p, event.what);
    }
    for (int who = 0; who < ranks && good; who++)
        if (!coll_cursor_ended(&p->players[who].cursor) && p->call->rounds)
            good = exceed(p); /* what is left out is waited for */
        else if (!coll_cursor_ended(&p->players[who].cursor))
            return coll_error(MPI_ERR_INTERN, "%s: rank %d would wait for ever",
                              p->call->algorithm->name, p->line->order[who]);
    if (good)
        p->price->time = p->end;
    p->price->lossy = p->network.lossy;
    return MPI_SUCCESS;
}

/* The most that a play may need. */
static size_t bytes_of(const play *p, const coll_line *line) {
    const coll_planner *planner = p->call->planner;
    coll_blocks even;
    coll_part part = coll_price_part(&p->shape, &p->values, line, true, &even);
    coll_plan_size size = planner->size(&part);
    size_t ranks = (size_t)p->shape.topo->ranks, most = (size_t)p->most,
           nodes = (size_t)size.window * (size_t)size.steps,
           of_all = 2 * sizeof(int) + sizeof(coll_visit),
           each = sizeof(player) + coll_comm_room_of(size.own_bytes) + coll_cursor_bytes(&size) +
                  coll_comm_room_of(nodes * sizeof(int)),
           letters = sizeof(letter) + sizeof(int) + sizeof(path) + sizeof(coll_event);
    enum { ODDS = 1 << 10 };
    return ranks * (of_all + each) + (size_t)hashes(p) * sizeof(int) +
           coll_network_bytes(p->shape.topo) + most * letters + size.making_bytes + ODDS;
}

/* The same; SIZE_MAX where there is no memory to find that out. */
static size_t bytes_needed(const play *p) {
    size_t ranks = (size_t)p->shape.topo->ranks,
           line = coll_comm_room_of(sizeof(coll_line) + ranks * sizeof(int)), bytes = SIZE_MAX;
    char *memory = malloc(line + ranks * sizeof(coll_visit));
    if (memory) {
        ((coll_line *)memory)->position = 0;
        coll_order_line(&p->shape, (coll_visit *)(memory + line), ((coll_line *)memory)->order);
        bytes = bytes_of(p, (coll_line *)memory);
    }
    free(memory);
    return bytes;
}

int coll_price_play(const coll_price_call *call, coll_price *price) {
    play p = {.call = call,
              .price = price,
              .shape = *call->shape,
              .values = *call->values,
              .most = call->letters ? call->letters : LETTERS_MOST,
              .room = call->memory,
              .left = call->bytes};
    *price = (coll_price){.time = 0};
    if (call->ends)
        memset(call->ends, 0, (size_t)call->shape->topo->ranks * sizeof *call->ends);
    if (call->shape->bytes == 0 || call->shape->topo->ranks == 1)
        return MPI_SUCCESS; /* there is nothing to plan */
    if (call->memory)
        return play_to_end(&p);
    char *memory = p.room = malloc(p.left = bytes_needed(&p));
    if (!memory)
        return coll_error(MPI_ERR_NO_MEM, "no memory to price %s: %zu bytes", call->algorithm->name,
                          p.left);
    int code = play_to_end(&p);
    free(memory);
    return code;
}
