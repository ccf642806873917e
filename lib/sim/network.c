/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/sim/network.h"

#include "lib/base/comm.h"

#include <string.h>

enum { NOBODY = -1, SEVERAL = -2 };

static const int64_t retransmission_timeout = 200000000; /* ns, TCP's minimum */

/* Bytes that a TCP connection sends before the first acknowledgement: 10 packets. A message longer
 * than LONG shares its host's link with messages of the host's other ranks. */
enum { FIRST_WINDOW = 10 * 1448, LONG = 2 * FIRST_WINDOW };

/*
 * A lost packet is sent again at once if packets behind it arrive, so a message longer than a first
 * window loses time only if a buffer gets many more bytes than it can hold. Measured on labs: with
 * three times as many bytes, 1 gather of 10 waited for a retransmission timeout.
 */
static const double MANY_MORE = 2;

/* Bytes of a message's headers between hosts: of Ethernet, IP, TCP and the MPI library. */
static const double HEADERS = 100;

/* Alternating streams to a host that is sending need 1/meeting_share more time of its port. */
static const int64_t meeting_share = 10;

static int64_t nanoseconds(double seconds) {
    const double most = 1e6; /* so that sums don't overflow */
    return (int64_t)((seconds < most ? seconds : most) * 1e9 + 0.5);
}

/* Returns how many equal networks a level consists of, each with links of its own. */
static int count_networks(const coll_topo *topo, int level) {
    return level <= COLL_LEVEL_NODE  ? topo->nodes
           : level < COLL_LEVEL_WIDE ? topo->racks
                                     : topo->sites;
}

/* Returns the rate of one shared link of a level in bytes/s: the level's total rate divided by its
 * number of networks, but at least the rate of a single stream; 0 if the profile has no total. */
static double shared_link_rate(const coll_topo *topo, const coll_cost *cost, int level) {
    const double stream = 32 << 10;
    double alone = stream / coll_cost_send_gap(cost, stream),
           part = cost->together / count_networks(topo, level);
    return cost->together <= 0 ? 0 : part > alone ? part : alone;
}

/* Links are numbered in this order: ranks, hosts, hosts' memories, racks' switches, racks' uplinks
 * out and in, sites' uplinks out and in. */
static int first_uplink(const coll_topo *topo) {
    return topo->ranks + 2 * topo->nodes + topo->racks;
}

void coll_network_open(coll_network *network, const coll_shape *call, const coll_topo *whole) {
    *network = (coll_network){
        .topo = call->topo, .latencies = call->latencies, .profile = coll_shape_costs(call)};
    network->shared_work = network->profile->shared_work; /* of few ranks, for those of all */
    if (whole)
        network->shared_work *= (double)whole->ranks / call->topo->ranks;
    for (int i = 0; i < COLL_MESSAGE_COSTS; i++)
        network->costs[i].level = NOBODY;
    for (int level = 0; level < COLL_LEVELS; level++)
        network->rate[level] =
            shared_link_rate(whole ? whole : call->topo, &network->profile->level[level], level);
}

bool coll_network_make_links(coll_network *network, char **scratch, size_t *left) {
    const coll_topo *topo = network->topo;
    const size_t uplinks = 2 * (size_t)topo->racks + 2 * (size_t)topo->sites,
                 links = (size_t)first_uplink(topo) + uplinks;
    network->links = coll_scratch_alloc_within(scratch, left, links * sizeof *network->links);
    network->queues = coll_scratch_alloc_within(scratch, left, uplinks * sizeof *network->queues);
    network->ports =
        coll_scratch_alloc_within(scratch, left, (size_t)topo->nodes * sizeof *network->ports);
    if (!network->links || !network->queues || !network->ports)
        return false;
    memset(network->links, 0, links * sizeof *network->links);
    for (size_t uplink = 0; uplink < uplinks; uplink++)
        network->queues[uplink] = (coll_queue){.sender = NOBODY};
    for (int node = 0; node < topo->nodes; node++)
        network->ports[node] = (coll_port){.queue = {.sender = NOBODY}};
    return true;
}

/*
 * Returns the seconds for which a message with a gap of GAP seconds occupies its host's link. EMPTY
 * is the gap of an empty message, which is the part that doesn't depend on the bytes. That part is
 * divided by CORES, because the cores of a host work on messages at the same time.
 */
static double link_seconds(double gap, double empty, int cores) {
    return gap - empty + empty / cores;
}

/*
 * Returns how many times a message of BYTES crosses the network: 3 if it is long and between hosts,
 * since a request goes to the receiver and an answer comes back before the data leaves; else 1.
 * Also returns 1 if the transfer time was measured, since that time includes all crossings.
 */
static int crossings(const coll_cost *cost, int level, size_t bytes) {
    bool asks = level > COLL_LEVEL_NODE && bytes >= COLL_EAGER && !cost->curve[COLL_TRANSFER].knots;
    return asks ? 3 : 1;
}

const coll_message_cost *coll_network_message_cost(coll_network *network, coll_level level,
                                                   size_t bytes) {
    coll_message_cost *message =
        &network->costs[(bytes / 8 + bytes / 4096 * 7 + level * 13) % COLL_MESSAGE_COSTS];
    if (message->level == (int)level && message->bytes == bytes)
        return message;
    const coll_cost *cost = &network->profile->level[level];
    const double size = (double)bytes, rate = network->rate[level],
                 empty = coll_cost_transfer(cost, 0);
    const int cores = level > COLL_LEVEL_NODE ? coll_topo_busy_cores(network->topo) : 1;
    /* a measured gap includes the headers */
    const double headers = level > COLL_LEVEL_NODE ? HEADERS : 0,
                 on_link = cost->curve[COLL_SEND_GAP].knots ? 0 : headers * cost->per_byte;
    *message = (coll_message_cost){
        .bytes = bytes,
        .level = (int)level,
        .send = nanoseconds(coll_cost_send_overhead(cost, size)),
        .receive = nanoseconds(coll_cost_arrival_overhead(cost, size) +
                               coll_cost_receive_overhead(cost, size)),
        .wake = nanoseconds(cost->wake),
        .shared_work = level > COLL_LEVEL_NODE ? nanoseconds(network->shared_work) : 0,
        .send_gap = nanoseconds(on_link + link_seconds(coll_cost_send_gap(cost, size),
                                                       coll_cost_send_gap(cost, 0), cores)),
        .receive_gap = nanoseconds(on_link + link_seconds(coll_cost_receive_gap(cost, size),
                                                          coll_cost_receive_gap(cost, 0), cores)),
        .shared_gap = rate > 0 ? nanoseconds((size + headers) / rate) : 0,
        .crossings = crossings(cost, level, bytes)};
    message->latency =
        nanoseconds(coll_cost_transfer(cost, size) + (message->crossings - 1) * empty);
    return message;
}

int64_t coll_network_way(const coll_network *network, const coll_connection *via,
                         const coll_message_cost *message) {
    const coll_topo *topo = network->topo;
    if (!network->latencies || message->level != COLL_LEVEL_WIDE)
        return message->latency;
    double empty = coll_cost_transfer(&network->profile->level[COLL_LEVEL_WIDE], 0),
           own = network->latencies[topo->places[via->from].site * topo->sites +
                                    topo->places[via->to].site];
    return message->latency + message->crossings * (nanoseconds(own) - nanoseconds(empty));
}

int64_t coll_network_copy(const coll_network *network, size_t bytes) {
    const coll_curve *curve = &network->profile->copy[COLL_COPY_MEMORY_TO_MEMORY];
    return curve->knots ? nanoseconds(COLL_Curve_at(curve, (double)bytes)) : 0;
}

/* Returns the index of the NTH shared link (1 or 2) on a connection's path, or NOBODY if the path
 * has no such link. */
static int shared_link(const coll_network *network, const coll_connection *via, int nth) {
    const coll_topo *topo = network->topo;
    const coll_place *place = &topo->places[nth == 1 ? via->from : via->to];
    const int uplinks = first_uplink(topo);
    if (via->level == COLL_LEVEL_WIDE)
        return uplinks + 2 * topo->racks + (nth - 1) * topo->sites + place->site;
    if (via->level == COLL_LEVEL_SITE)
        return uplinks + (nth - 1) * topo->racks + place->rack;
    if (nth > 1)
        return NOBODY;
    return via->level == COLL_LEVEL_RACK ? uplinks - topo->racks + place->rack
                                         : topo->ranks + topo->nodes + place->node;
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static int64_t pass_link(coll_clock *link, int64_t duration, bool interleaves, int64_t now) {
    const int64_t begin = later(link->busy, now), early = later(link->packets, now);
    link->busy = begin + duration;
    if (interleaves)
        link->packets = early + duration;
    return interleaves ? early : begin;
}

/* --- Buffers --- */

/* Sets *WAITING, a connection's waiting bytes, to NOW bytes. QUEUE counts at most FIRST_WINDOW of
 * each connection's bytes. */
static void count_waiting(coll_queue *queue, size_t *waiting, size_t now) {
    size_t before = *waiting < FIRST_WINDOW ? *waiting : FIRST_WINDOW,
           after = now < FIRST_WINDOW ? now : FIRST_WINDOW;
    queue->waiting += after - before;
    *waiting = now;
    if (queue->waiting == 0)
        queue->sender = NOBODY;
}

static void note_sender(coll_queue *queue, int node) {
    queue->sender = queue->sender == NOBODY || queue->sender == node ? node : SEVERAL;
}

/*
 * Returns the time that a message in QUEUE waits for its retransmission: none unless messages from
 * several hosts overflow the buffer and this message is alone on its connection, because messages
 * behind it would show the loss. A connection loses one message at most: from then on it sends less
 * at once.
 */
static int64_t retransmission(coll_network *network, const coll_queue *queue, coll_connection *via,
                              const coll_message_cost *message) {
    const double buffer = network->profile->level[via->level].buffer,
                 most = message->bytes > FIRST_WINDOW ? MANY_MORE * buffer : buffer,
                 waiting = (double)queue->waiting;
    if (queue->sender != SEVERAL || buffer <= 0 || via->in_order > 1 || via->lost)
        return 0;
    if (waiting <= most) {
        network->fill = waiting > network->fill * most ? waiting / most : network->fill;
        return 0;
    }
    via->lost = true;
    return retransmission_timeout;
}

/* Returns the queue of an uplink; NULL for other links. */
static coll_queue *uplink_queue(const coll_network *network, const coll_connection *via, int nth) {
    const int nth_uplink = shared_link(network, via, nth) - first_uplink(network->topo);
    return nth_uplink < 0 ? NULL : &network->queues[nth_uplink];
}

static coll_port *port_of(const coll_network *network, const coll_connection *via) {
    return &network->ports[network->topo->places[via->to].node];
}

/*
 * Returns whether a message counts, from the moment it is sent, among the bytes that wait for the
 * receiver's port. A long message shares the sender's link with other messages, so its packets mix
 * with packets of other senders at the port, even if the simulated port is idle when the message
 * arrives.
 */
static bool waits_early(const coll_message_cost *message) {
    return message->level > COLL_LEVEL_NODE && message->bytes > LONG;
}

/* --- The way of a message --- */

bool coll_network_shares_link(const coll_network *network, const coll_message_cost *message) {
    return network->topo->most_ranks_per_node > 1 && waits_early(message);
}

int64_t coll_network_link_free(const coll_network *network, int node) {
    return network->links[network->topo->ranks + node].busy;
}

int64_t coll_network_pass(coll_network *network, coll_connection *via,
                          const coll_message_cost *message, int nth, bool interleaves,
                          int64_t now) {
    const coll_topo *topo = network->topo;
    const int node = topo->places[via->from].node;
    if (nth == 0) {
        const int own = via->level <= COLL_LEVEL_NODE ? via->from : topo->ranks + node;
        if (waits_early(message)) {
            note_sender(&port_of(network, via)->queue, node);
            count_waiting(&port_of(network, via)->queue, &via->waiting,
                          via->waiting + message->bytes);
        }
        return pass_link(&network->links[own], message->send_gap, interleaves, now);
    }
    const int link = message->shared_gap > 0 ? shared_link(network, via, nth) : NOBODY;
    const int64_t on =
        link == NOBODY ? now
                       : pass_link(&network->links[link], message->shared_gap, interleaves, now);
    coll_queue *queue = on > now ? uplink_queue(network, via, nth) : NULL;
    if (!queue)
        return on;
    note_sender(queue, node);
    count_waiting(queue, &via->queued[nth], via->queued[nth] + message->bytes);
    return on + retransmission(network, queue, via, message);
}

void coll_network_dequeue(coll_network *network, coll_connection *via,
                          const coll_message_cost *message, int nth) {
    coll_queue *queue = uplink_queue(network, via, nth);
    if (queue)
        count_waiting(queue, &via->queued[nth], via->queued[nth] - message->bytes);
}

bool coll_network_enter(coll_network *network, coll_connection *via,
                        const coll_message_cost *message, bool interleaves, int64_t now,
                        int64_t *begin) {
    const coll_topo *topo = network->topo;
    coll_port *port = port_of(network, via);
    const int sender = topo->places[via->from].node, latest = port->latest;
    const bool sends = network->links[topo->ranks + topo->places[via->to].node].busy > now;
    *begin = pass_link(&port->clock, message->receive_gap, interleaves, now);
    if (!interleaves)
        port->latest = sender;
    if (*begin == now && !waits_early(message))
        return false;
    if (*begin > now && sends && !interleaves && latest != sender)
        port->clock.busy += message->receive_gap / meeting_share;
    note_sender(&port->queue, sender);
    if (!waits_early(message))
        count_waiting(&port->queue, &via->waiting, via->waiting + message->bytes);
    *begin += retransmission(network, &port->queue, via, message);
    return true;
}

void coll_network_leave(coll_network *network, coll_connection *via, size_t bytes) {
    count_waiting(&port_of(network, via)->queue, &via->waiting, via->waiting - bytes);
}
