/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/sim/sim.h"

#include "lib/base/comm.h"
#include "lib/base/error.h"
#include "lib/plan/cursor.h"
#include "lib/sim/event_queue.h"
#include "lib/sim/fair_link.h"
#include "lib/sim/network.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1, MESSAGES_MOST = 1 << 18 };

/* A message's next stage. At a stage N from 1 to COLL_WAYS, the message goes on to link N, or is
 * behind the last link if N is COLL_WAYS (pass_links). */
typedef enum stage {
    SENT = COLL_WAYS + 1, /* the sender's processor has sent it */
    LEAVES,               /* it may have left the sender's host, whose link other ranks share */
    AT_PORT,              /* its first byte is at the port of the receiver's host */
    ARRIVES,              /* its last byte has passed that port */
    RECEIVED,             /* the receiver's processor has received it */
    COPIED                /* not a message: a copy in the rank's own memory is complete */
} stage;

/* A message under way. */
typedef struct message {
    int channel; /* for a copy: the position of its rank */
    int stage;
    int send_node;    /* of the sender's cursor; NONE once the send is complete */
    int receive_node; /* of the receiver's cursor */
    bool interleaves; /* fits one packet, which passes between messages of other connections */
    bool waits;       /* is in the buffer of the receiver's port */
    bool leaves;      /* an event for LEAVES is scheduled */
    size_t bytes;
    int64_t start;
    int64_t arrival; /* ns: when it arrived; before it enters the port: how long it will take from
                        the port to its arrival */
} message;

/* A linked list of messages or of a cursor's nodes; a separate array holds the links. */
typedef struct queue {
    int first, last;
} queue;

/* The connection from one rank to another on one lane. */
typedef struct channel {
    coll_connection on;
    int from, to; /* positions in the chain order */
    int lane;
    int64_t latest;     /* arrival of the last message: messages never overtake each other */
    int long_messages;  /* messages under way that take turns with the other direction */
    int reverse;        /* the channel back; NONE before the first long message */
    int held;           /* own messages held until the reverse channel's long messages arrive */
    queue held_by_this; /* messages of the reverse channel held until this channel's long messages
                           arrive */
    uint64_t received;  /* messages */
    queue unexpected;   /* messages that arrived before a receive was posted */
    queue posted;       /* nodes of posted receives without a message */
    int next;           /* channel in the same hash bucket */
} channel;

/* A simulated rank. */
typedef struct sim_rank {
    coll_plan_args args;
    coll_cursor cursor;
    int64_t busy_until;  /* its processor */
    coll_fair_rank fair; /* its messages on the host's link */
    int *next_posted;    /* the next node in a channel's queue of posted receives, by node */
} sim_rank;

typedef struct simulation {
    const coll_sim_call *call;
    const coll_shape *shape; /* of CALL */
    coll_blocks blocks;      /* equal blocks, for ranks whose data or input is in blocks */
    coll_rank_order *line;   /* shared by all ranks: `position` is set to the current rank's
                                position */
    int *positions;          /* each rank's position in the chain order */
    sim_rank *ranks;         /* by position */
    coll_network network;
    coll_plan_size plan_size;
    coll_event_queue events;
    coll_fair_link *links; /* of the hosts; NULL if no host has several ranks */
    message *messages;
    coll_fair_message *fair_messages; /* by the same index: the state of a message on LINKS */
    int *next_message;
    channel *channels;
    int *first_channel; /* by hash */
    int unused;         /* head of the list of free messages */
    int messages_used, channels_used;
    int64_t now, end;
    int64_t shared_busy_until; /* the processors that all ranks share */
    int scheduled;             /* events so far */
    bool failed;               /* the budget of events, the messages or the channels are used up */
    int most;                  /* most messages, most channels and most pending events */
    char *memory;
    size_t left; /* bytes of MEMORY */
} simulation;

/* --- Messages and channels --- */

static void append_to_queue(queue *q, int next[], int element) {
    if (q->first == NONE)
        q->first = element;
    else
        next[q->last] = element;
    q->last = element;
    next[element] = NONE;
}

/* Removes and returns the first element; NONE if the queue is empty. */
static int take_first(queue *q, const int next[]) {
    int first = q->first;
    if (first != NONE)
        q->first = next[first];
    return first;
}

static int hash_buckets(const simulation *sim) {
    int few = 2 * sim->shape->topo->ranks, many = sim->most / 4;
    return few > many ? few : many;
}

/* Returns the channel from position FROM to position TO on LANE, made on first use; fails if all
 * channels are in use. */
static int find_channel(simulation *sim, int from, int to, int lane) {
    const int ranks[] = {sim->line->order[from], sim->line->order[to]};
    const uint64_t key = (((uint64_t)ranks[0] << 32) + (uint64_t)ranks[1]) * COLL_LANES +
                         (uint64_t)lane,
                   hash = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    int *first = &sim->first_channel[hash * (uint64_t)hash_buckets(sim) >> 32];
    for (int i = *first; i != NONE; i = sim->channels[i].next) {
        const channel *via = &sim->channels[i];
        if (via->on.from == ranks[0] && via->on.to == ranks[1] && via->lane == lane)
            return i;
    }
    if (sim->channels_used == sim->most) {
        sim->failed = true;
        return NONE;
    }
    sim->channels[sim->channels_used] =
        (channel){.on = {.from = ranks[0],
                         .to = ranks[1],
                         .level = coll_topo_level(sim->shape->topo, ranks[0], ranks[1])},
                  .from = from,
                  .to = to,
                  .lane = lane,
                  .unexpected = {NONE, NONE},
                  .posted = {NONE, NONE},
                  .reverse = NONE,
                  .held_by_this = {NONE, NONE},
                  .next = *first};
    return *first = sim->channels_used++;
}

/* Returns an unused message; fails if all are in use. */
static int new_message(simulation *sim) {
    const int number = sim->unused;
    if (number != NONE) {
        sim->unused = sim->next_message[number];
        return number;
    }
    sim->failed = sim->failed || sim->messages_used == sim->most;
    return sim->failed ? NONE : sim->messages_used++;
}

static void free_message(simulation *sim, int number) {
    sim->next_message[number] = sim->unused;
    sim->unused = number;
}

/* --- Time --- */

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Schedules a message's next stage at TIME for the rank at POSITION. Simultaneous events are
 * handled in chain order, so that the result depends on where ranks are, not on their numbers. */
static void schedule_stage(simulation *sim, int number, int next, int position, int64_t time) {
    sim->messages[number].stage = next;
    if (++sim->scheduled > sim->call->budget ||
        !coll_event_queue_add(&sim->events, time, position, number))
        sim->failed = true;
}

/* Occupies the processor of the rank at POSITION for DURATION once it is free, and the processors
 * that all ranks share for SHARED. Returns when this work ends. */
static int64_t occupy_processor(simulation *sim, int position, int64_t duration, int64_t shared) {
    sim_rank *rank = &sim->ranks[position];
    rank->busy_until = later(rank->busy_until, sim->now) + duration;
    if (shared > 0) {
        sim->shared_busy_until = later(sim->shared_busy_until, sim->now) + shared;
        rank->busy_until = later(rank->busy_until, sim->shared_busy_until);
    }
    return rank->busy_until;
}

/* --- Steps --- */

static const coll_message_cost *cost_of(simulation *sim, const message *msg) {
    return coll_network_message_cost(&sim->network, sim->channels[msg->channel].on.level,
                                     msg->bytes);
}

/* Starts the receiver's processing of a message that has arrived and has a posted receive. */
static void process_arrival(simulation *sim, int number) {
    const message *msg = &sim->messages[number];
    const int to = sim->channels[msg->channel].to;
    const coll_message_cost *cost = cost_of(sim, msg);
    bool idle = sim->ranks[to].busy_until < sim->now;
    schedule_stage(
        sim, number, RECEIVED, to,
        occupy_processor(sim, to, cost->receive + (idle ? cost->wake : 0), cost->shared_work));
}

/* Returns whether the send completes only when the message is received (rendezvous). */
static bool is_long(const message *msg) {
    return msg->bytes >= COLL_EAGER;
}

/* Returns whether the message may not travel at the same time as long messages in the opposite
 * direction: between hosts these take turns, as on a TCP connection of Open MPI. */
static bool takes_turns(const simulation *sim, const message *msg) {
    return is_long(msg) && sim->channels[msg->channel].on.level > COLL_LEVEL_NODE;
}

/*
 * Returns the position by which a send on VIA is ordered among events of the same time; the lower
 * position goes first. If two ranks send to each other at the same time, small delays decide in
 * real calls which of them has the first turn. If nodes have several ranks, about half of the pairs
 * must begin in each direction, so that links are busy in both directions. The near rank of a pair
 * is the one whose partner is less than half of the ranks further in the chain order, cyclically.
 * With several ranks per node, the near rank goes first if its position is even, else its partner.
 */
static int place_of_turn(const simulation *sim, const channel *via) {
    const int ranks = sim->shape->topo->ranks, away = 2 * ((via->to - via->from + ranks) % ranks);
    const bool near = away < ranks || (away == ranks && via->from < via->to),
               first = near == ((near ? via->from : via->to) % 2 == 0);
    return sim->links && first != (via->from < via->to) ? via->to : via->from;
}

static void start_send(simulation *sim, int position, int node) {
    const coll_step *step = &sim->ranks[position].cursor.nodes[node].step;
    const int to = sim->positions[step->peer], number = new_message(sim),
              channel_number = find_channel(sim, position, to, step->lane);
    if (sim->failed)
        return;
    message *msg = &sim->messages[number];
    channel *via = &sim->channels[channel_number];
    *msg = (message){.channel = channel_number, .send_node = node, .bytes = step->length};
    if (takes_turns(sim, msg) && via->reverse == NONE)
        via->reverse = find_channel(sim, to, position, step->lane);
    const coll_message_cost *cost = cost_of(sim, msg);
    schedule_stage(sim, number, SENT, takes_turns(sim, msg) ? place_of_turn(sim, via) : position,
                   occupy_processor(sim, position, cost->send, cost->shared_work));
}

static void start_receive(simulation *sim, int position, int node) {
    sim_rank *rank = &sim->ranks[position];
    const coll_step *step = &rank->cursor.nodes[node].step;
    const int number = find_channel(sim, sim->positions[step->peer], position, step->lane);
    if (sim->failed)
        return;
    channel *via = &sim->channels[number];
    const int unexpected = take_first(&via->unexpected, sim->next_message);
    if (unexpected == NONE) {
        append_to_queue(&via->posted, rank->next_posted, node);
        return;
    }
    sim->messages[unexpected].receive_node = node;
    process_arrival(sim, unexpected);
}

/* A copy that costs nothing, and needn't wait for the processor, is complete at once. */
static void start_copy(simulation *sim, int position, int node) {
    sim_rank *rank = &sim->ranks[position];
    const int64_t duration = coll_network_copy(&sim->network, rank->cursor.nodes[node].step.length);
    if (duration == 0 && rank->busy_until <= sim->now) {
        coll_cursor_complete(&rank->cursor, node);
        return;
    }
    const int number = new_message(sim);
    if (sim->failed)
        return;
    sim->messages[number] = (message){.channel = position, .send_node = node};
    schedule_stage(sim, number, COPIED, position, occupy_processor(sim, position, duration, 0));
}

/* Starts all steps that the rank at POSITION may start now. */
static void start_ready_steps(simulation *sim, int position) {
    static void (*const by_kind[])(simulation * sim, int position,
                                   int node) = {[COLL_STEP_SEND] = start_send,
                                                [COLL_STEP_RECEIVE] = start_receive,
                                                [COLL_STEP_COPY] = start_copy,
                                                [COLL_STEP_COMBINE] = start_copy};
    int node;
    sim->line->position = position;
    for (const coll_node *started;
         !sim->failed && (started = coll_cursor_start(&sim->ranks[position].cursor, &node));)
        by_kind[started->step.kind](sim, position, node);
}

static void complete_step(simulation *sim, int position, int node) {
    sim_rank *rank = &sim->ranks[position];
    coll_cursor_complete(&rank->cursor, node);
    sim->end = sim->now;
    if (sim->call->ends)
        sim->call->ends[sim->line->order[position]] = sim->now;
    start_ready_steps(sim, position);
}

/* --- From sender to receiver --- */

/* Matches an arrived message with the channel's first posted receive, or keeps it as unexpected. */
static void deliver(simulation *sim, int number) {
    message *msg = &sim->messages[number];
    channel *via = &sim->channels[msg->channel];
    int posted = take_first(&via->posted, sim->ranks[via->to].next_posted);
    msg->arrival = sim->now;
    via->on.in_order -= !msg->interleaves;
    if (posted == NONE) {
        append_to_queue(&via->unexpected, sim->next_message, number);
        return;
    }
    msg->receive_node = posted;
    process_arrival(sim, number);
}

/* Schedules the arrival of the message at TIME, or together with the previous message of its
 * channel if that is later. */
static void arrive_at(simulation *sim, int number, int64_t time) {
    channel *via = &sim->channels[sim->messages[number].channel];
    via->latest = later(time, later(via->latest, sim->now));
    schedule_stage(sim, number, ARRIVES, via->to, via->latest);
}

/* Puts the message, whose first byte came at time BEGIN, onto the port of the receiver's host. */
static void enter_port(simulation *sim, int number, int64_t begin) {
    message *msg = &sim->messages[number];
    channel *via = &sim->channels[msg->channel];
    msg->waits = coll_network_enter(&sim->network, &via->on, cost_of(sim, msg), msg->interleaves,
                                    begin, &begin);
    arrive_at(sim, number, begin + msg->arrival);
}

/* Moves the message, which reached link NTH (from 1) at time NOW, on as far as it gets without
 * waiting for a shared link. */
static void pass_links(simulation *sim, int number, int nth, int64_t now) {
    message *msg = &sim->messages[number];
    channel *via = &sim->channels[msg->channel];
    const coll_message_cost *cost = cost_of(sim, msg);
    for (; nth < COLL_WAYS; nth++) {
        const int64_t on =
            coll_network_pass(&sim->network, &via->on, cost, nth, msg->interleaves, now);
        if (on > now && on > sim->now) {
            schedule_stage(sim, number, nth + 1, via->from, on);
            return;
        }
        if (on > now)
            coll_network_dequeue(&sim->network, &via->on, cost, nth);
        now = on;
    }
    const int64_t apart = coll_network_way(&sim->network, &via->on, cost),
                  wire = cost->receive_gap < apart ? cost->receive_gap : apart;
    if (via->on.level <= COLL_LEVEL_NODE) { /* there is no port */
        arrive_at(sim, number, now + apart);
        return;
    }
    msg->arrival = wire;
    if (now + apart - wire >= sim->now)
        schedule_stage(sim, number, AT_PORT, via->to, now + apart - wire);
    else
        enter_port(sim, number, now + apart - wire);
}

/* Continues with a message that has waited for a link. */
static void resume_links(simulation *sim, int number) {
    const message *msg = &sim->messages[number];
    const int nth = msg->stage;
    if (nth > 1)
        coll_network_dequeue(&sim->network, &sim->channels[msg->channel].on, cost_of(sim, msg),
                             nth - 1);
    pass_links(sim, number, nth, sim->now);
}

static coll_fair_link *first_link(const simulation *sim, const message *msg) {
    const int from = sim->channels[msg->channel].on.from;
    return &sim->links[sim->shape->topo->places[from].node];
}

/* Schedules the event at which the first message of LINK leaves the link, unless the message
 * already has such an event, which may be too early. */
static void schedule_leaving(simulation *sim, const coll_fair_link *link) {
    const int number = link->first;
    if (number == NONE || sim->messages[number].leaves)
        return;
    message *msg = &sim->messages[number];
    msg->leaves = true;
    schedule_stage(sim, number, LEAVES, sim->channels[msg->channel].from,
                   later(coll_fair_link_end(link, sim->fair_messages), sim->now));
}

/* Puts the message on the link of the sender's host, or on the sender's own link if the message
 * stays in the host. */
static void enter_first_link(simulation *sim, int number) {
    message *msg = &sim->messages[number];
    channel *via = &sim->channels[msg->channel];
    const coll_message_cost *cost = cost_of(sim, msg);
    coll_fair_link *link =
        sim->links && via->on.level > COLL_LEVEL_NODE ? first_link(sim, msg) : NULL;
    const int64_t free =
        link ? coll_network_link_free(&sim->network, sim->shape->topo->places[via->on.from].node)
             : 0;
    msg->start = coll_network_pass(&sim->network, &via->on, cost, 0, msg->interleaves, sim->now);
    if (link && coll_network_shares_link(&sim->network, cost)) {
        msg->start = later(sim->now, link->ranks ? 0 : free);
        coll_fair_link_add(link, sim->fair_messages, number, &sim->ranks[via->from].fair,
                           cost->send_gap, sim->now, free);
        schedule_leaving(sim, link);
        return;
    }
    if (link)
        coll_fair_link_delay(link, cost->send_gap);
    if (msg->start > sim->now && cost->shared_gap > 0)
        schedule_stage(sim, number, 1, via->from, msg->start);
    else
        pass_links(sim, number, 1, msg->start);
}

/* Moves the message on if it has left its host. Other messages that came later may have delayed
 * it. */
static void leave_host(simulation *sim, int number) {
    message *msg = &sim->messages[number];
    channel *via = &sim->channels[msg->channel];
    const coll_message_cost *cost = cost_of(sim, msg);
    coll_fair_link *link = first_link(sim, msg);
    coll_fair_rank *rank = &sim->ranks[via->from].fair;
    msg->leaves = false;
    const bool left =
        link->first == number && coll_fair_link_end(link, sim->fair_messages) <= sim->now;
    if (left) {
        msg->start = later(msg->start, rank->left);
        coll_fair_link_remove(link, sim->fair_messages, rank, sim->now);
    }
    schedule_leaving(sim, link);
    if (!left)
        return;
    /* The first byte of the message left the host at START, its last byte now. */
    via->latest = later(via->latest, sim->now - cost->send_gap +
                                         coll_network_way(&sim->network, &via->on, cost));
    pass_links(sim, number, 1, msg->start);
}

static void send_off(simulation *sim, int number) {
    message *msg = &sim->messages[number];
    channel *via = &sim->channels[msg->channel];
    if (!is_long(msg)) {
        const int node = msg->send_node;
        msg->send_node = NONE;
        complete_step(sim, via->from, node);
    }
    msg->interleaves = msg->bytes <= COLL_PACKET && via->on.in_order == 0;
    via->on.in_order += !msg->interleaves;
    via->long_messages += takes_turns(sim, msg);
    enter_first_link(sim, number);
}

/* Sends the message, or holds it until the long messages in the opposite direction have arrived.
 * Messages behind a held message are held, too. */
static void send_off_in_turn(simulation *sim, int number) {
    const message *msg = &sim->messages[number];
    channel *via = &sim->channels[msg->channel];
    if (via->held == 0 && (via->long_messages > 0 || !takes_turns(sim, msg) ||
                           sim->channels[via->reverse].long_messages == 0)) {
        send_off(sim, number);
        return;
    }
    via->held++;
    append_to_queue(&sim->channels[via->reverse].held_by_this, sim->next_message, number);
}

/* Delivers a message. If it was the last long message under way in its direction, sends the
 * messages held in the other direction. */
static void deliver_in_turn(simulation *sim, int number) {
    message *msg = &sim->messages[number];
    channel *via = &sim->channels[msg->channel];
    const bool took_turn = takes_turns(sim, msg);
    deliver(sim, number);
    via->long_messages -= took_turn;
    if (!took_turn || via->long_messages > 0)
        return;
    for (int next; (next = take_first(&via->held_by_this, sim->next_message)) != NONE;) {
        sim->channels[sim->messages[next].channel].held--;
        send_off(sim, next);
    }
}

static void finish_receive(simulation *sim, int number) {
    const message msg = sim->messages[number];
    channel *via = &sim->channels[msg.channel];
    const COLL_Message record = {.from = via->on.from,
                                 .to = via->on.to,
                                 .nth = via->received++,
                                 .bytes = msg.bytes,
                                 .level = via->on.level,
                                 .start = msg.start,
                                 .arrival = msg.arrival,
                                 .end = sim->now};
    if (sim->call->watch)
        sim->call->watch(&record, sim->call->context);
    free_message(sim, number);
    if (msg.send_node != NONE)
        complete_step(sim, via->from, msg.send_node);
    complete_step(sim, via->to, msg.receive_node);
}

static void run_stage(simulation *sim, int number) {
    const message *msg = &sim->messages[number];
    switch (msg->stage) {
    case SENT:
        send_off_in_turn(sim, number);
        break;
    case LEAVES:
        leave_host(sim, number);
        break;
    case AT_PORT:
        enter_port(sim, number, sim->now);
        break;
    case ARRIVES:
        if (msg->waits)
            coll_network_leave(&sim->network, &sim->channels[msg->channel].on, msg->bytes);
        deliver_in_turn(sim, number);
        break;
    case RECEIVED:
        finish_receive(sim, number);
        break;
    case COPIED:
        free_message(sim, number);
        complete_step(sim, msg->channel, msg->send_node);
        break;
    default:
        resume_links(sim, number);
    }
}

/* --- Simulations --- */

/* Cuts BYTES off the memory. Returns NULL if too few are left, and in all later calls, so that only
 * the last of several results must be checked. */
static void *cut_memory(simulation *sim, size_t bytes) {
    void *taken = coll_scratch_alloc_within(&sim->memory, &sim->left, bytes);
    if (!taken)
        sim->left = 0;
    return taken;
}

static bool open_rank(simulation *sim, int position) {
    sim_rank *rank = &sim->ranks[position];
    sim->line->position = position;
    void *memory = cut_memory(sim, sim->plan_size.own_bytes);
    if (!memory || sim->left < sim->plan_size.making_bytes)
        return false;
    coll_plan *plan = sim->call->planner->plan(&rank->args, sim->plan_size, memory);
    if (sim->call->rounds && sim->call->rounds < plan->rounds)
        plan->rounds = sim->call->rounds;
    /* No more rounds are under way than there are, so the cursor can be small. */
    if ((uint64_t)plan->size.window > plan->rounds)
        plan->size.window = coll_plan_window(&plan->size, plan->rounds);
    const coll_plan_size size = plan->size;
    rank->fair = (coll_fair_rank){0};
    memory = cut_memory(sim, coll_cursor_bytes(&size));
    rank->next_posted = cut_memory(sim, (size_t)size.window * (size_t)size.steps * sizeof(int));
    rank->busy_until = sim->call->starts ? sim->call->starts[sim->line->order[position]] : 0;
    if (!memory || !rank->next_posted)
        return false;
    coll_cursor_open(&rank->cursor, plan, memory);
    coll_cursor_begin(&rank->cursor);
    return true;
}

coll_plan_args coll_sim_plan_args(const coll_shape *shape, const coll_values *values,
                                  const coll_rank_order *line, bool is_root, coll_blocks *even) {
    const coll_sides *sides = &shape->sides;
    coll_side data = is_root ? sides->root_data : sides->data,
              input = is_root ? sides->root_input : sides->input;
    *even = (coll_blocks){.layout = {.count = (MPI_Count)shape->bytes},
                          .ranks = shape->topo->ranks,
                          .size = 1,
                          .extent = 1,
                          .longest = {.bytes = shape->bytes}};
    return (coll_plan_args){.shape = shape,
                            .values = values,
                            .line = line,
                            .own = data == COLL_SIDE_ONE ? shape->bytes : 0,
                            .blocks = data == COLL_SIDE_BLOCKS ? even : NULL,
                            .input = input == COLL_SIDE_BLOCKS ? even : NULL};
}

/* Computes the chain order, and sets up the arrays by position. */
static bool order_ranks(simulation *sim) {
    size_t ranks = (size_t)sim->shape->topo->ranks;
    sim->line = cut_memory(sim, sizeof(coll_rank_order) + ranks * sizeof(int));
    sim->positions = cut_memory(sim, ranks * sizeof(int));
    sim->ranks = cut_memory(sim, ranks * sizeof(sim_rank));
    if (!sim->ranks)
        return false;
    coll_order_ranks(sim->shape, sim->line->order);
    for (size_t position = 0; position < ranks; position++) {
        const int rank = sim->line->order[position];
        sim->positions[rank] = (int)position;
        sim->ranks[position].args = coll_sim_plan_args(sim->shape, sim->call->values, sim->line,
                                                       rank == sim->shape->root, &sim->blocks);
    }
    return true;
}

static bool open_simulation(simulation *sim) {
    size_t most = (size_t)sim->most;
    coll_network_open(&sim->network, sim->shape, sim->call->whole);
    if (!order_ranks(sim) || !coll_network_make_links(&sim->network, &sim->memory, &sim->left))
        return false;
    if (sim->shape->topo->most_ranks_per_node > 1) {
        const size_t nodes = (size_t)sim->shape->topo->nodes;
        sim->links = cut_memory(sim, nodes * sizeof *sim->links);
        sim->fair_messages = cut_memory(sim, most * sizeof *sim->fair_messages);
        for (size_t i = 0; sim->fair_messages && i < nodes; i++)
            sim->links[i] = (coll_fair_link){.first = NONE};
    }
    sim->messages = cut_memory(sim, most * sizeof(message));
    sim->next_message = cut_memory(sim, most * sizeof(int));
    sim->channels = cut_memory(sim, most * sizeof(channel));
    sim->events = (coll_event_queue){.events = cut_memory(sim, most * sizeof(coll_event)),
                                     .capacity = (int)most};
    sim->first_channel = cut_memory(sim, (size_t)hash_buckets(sim) * sizeof(int));
    if (!sim->first_channel)
        return false;
    for (int i = 0; i < hash_buckets(sim); i++)
        sim->first_channel[i] = NONE;
    sim->unused = NONE;
    sim->plan_size = sim->call->planner->size(&sim->ranks[0].args);
    const size_t ranks = (size_t)sim->shape->topo->ranks, before = sim->left;
    for (int position = 0; position < (int)ranks; position++) {
        if (!open_rank(sim, position))
            return false;
        if (position == 0 && before / ranks < before - sim->left)
            return false; /* the other ranks need as much, as a rule */
    }
    return true;
}

/* Runs SIM, which has been opened, and sets *TIME as coll_simulate does. */
static int run_simulation(simulation *sim, int64_t *time) {
    const int ranks = sim->shape->topo->ranks;
    const int64_t enough = sim->call->enough ? sim->call->enough : INT64_MAX;
    for (int position = 0; position < ranks; position++)
        start_ready_steps(sim, position);
    for (coll_event event; !sim->failed && coll_event_queue_take(&sim->events, &event);) {
        sim->now = event.time;
        if (sim->now >= enough) { /* a lower bound of the time */
            *time = sim->call->enough;
            return MPI_SUCCESS;
        }
        run_stage(sim, event.what);
    }
    for (int position = 0; position < ranks && !sim->failed; position++)
        if (!coll_cursor_ended(&sim->ranks[position].cursor) && sim->call->rounds)
            sim->failed = true; /* the rank waits for a message of a round that is not simulated */
        else if (!coll_cursor_ended(&sim->ranks[position].cursor))
            return coll_error(MPI_ERR_INTERN, "%s: rank %d would wait for ever",
                              sim->call->algorithm->name, sim->line->order[position]);
    *time = sim->failed ? COLL_SIM_UNKNOWN : sim->end;
    return MPI_SUCCESS;
}

/* Simulates CALL in BYTES of MEMORY. Sets *FITS to whether that is enough. */
static int simulate(const coll_sim_call *call, char *memory, size_t bytes, int64_t *time,
                    bool *fits) {
    simulation sim = {.call = call,
                      .shape = call->shape,
                      .most = call->messages ? call->messages : MESSAGES_MOST,
                      .memory = memory,
                      .left = bytes};
    *fits = open_simulation(&sim);
    *time = COLL_SIM_UNKNOWN;
    const int code = *fits ? run_simulation(&sim, time) : MPI_SUCCESS;
    if (call->fill && sim.network.fill > *call->fill)
        *call->fill = sim.network.fill;
    return code;
}

int coll_simulate(const coll_sim_call *call, int64_t *time) {
    enum { FIRST = 1 << 20 };
    int code = MPI_SUCCESS;
    bool fits = false;
    *time = 0;
    if (call->ends)
        memset(call->ends, 0, (size_t)call->shape->topo->ranks * sizeof *call->ends);
    if (call->shape->bytes == 0 || call->shape->topo->ranks == 1)
        return MPI_SUCCESS; /* there is no plan */
    if (call->memory)
        return simulate(call, call->memory, call->bytes, time, &fits);
    for (size_t bytes = FIRST; !fits; bytes *= 2) {
        char *memory = malloc(bytes);
        if (!memory)
            return coll_error(MPI_ERR_NO_MEM, "no memory to simulate %s: %zu bytes",
                              call->algorithm->name, bytes);
        code = simulate(call, memory, bytes, time, &fits);
        free(memory);
    }
    return code;
}
