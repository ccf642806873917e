#include "config.h"

#include "lib/schedule/network.h"

#include "lib/base/comm.h"

#include <string.h>

enum { NOBODY = -1, SEVERAL = -2 };

/* A sender waits so long before it sends again what was lost: TCP's least time-out. */
static const int64_t time_out = 200000000;

/* A connection sends so much before it must hear from its receiver: TCP's first window, 10 packets.
 * What is longer than some of these shares the sender's link with what that sends to others. */
enum { FIRST_WINDOW = 10 * 1448, LONG = 2 * FIRST_WINDOW };

/* What streams that meet need more of a port: one in so many. */
static const int64_t meeting = 10;

static int64_t nanoseconds(double seconds) {
    const double most = 1e6; /* so that sums fit */
    return (int64_t)((seconds < most ? seconds : most) * 1e9 + 0.5);
}

/* How many equal networks a level consists of, each with links of its own. */
static int parts_of(const coll_topo *topo, int level) {
    return level <= COLL_LEVEL_NODE  ? topo->nodes
           : level < COLL_LEVEL_WIDE ? topo->racks
                                     : topo->sites;
}

/* What all streams of a level get is divided among its parts, but one stream alone gets its own. */
static double shared_rate(const coll_topo *topo, const coll_cost *cost, int level) {
    const double stream = 32 << 10;
    double alone = stream / coll_cost_send_gap(cost, stream),
           part = cost->together / parts_of(topo, level);
    return cost->together <= 0 ? 0 : part > alone ? part : alone;
}

static size_t uplinks(const coll_topo *topo) {
    return 2 * (size_t)topo->racks + 2 * (size_t)topo->sites;
}

/* Links in the order of their numbers: of ranks, hosts, hosts' memories, racks' switches, racks'
 * uplinks out and in, sites' uplinks out and in. */
static size_t links(const coll_topo *topo) {
    return (size_t)topo->ranks + 2 * (size_t)topo->nodes + (size_t)topo->racks + uplinks(topo);
}

size_t coll_network_bytes(const coll_topo *topo) {
    return coll_comm_room_of(links(topo) * sizeof(coll_clock)) +
           coll_comm_room_of(uplinks(topo) * sizeof(coll_queue)) +
           coll_comm_room_of((size_t)topo->nodes * sizeof(coll_port));
}

int64_t coll_network_burst(const coll_network *network) {
    int64_t most = 0;
    for (int level = COLL_LEVEL_RACK; level < COLL_LEVELS; level++)
        most = network->lead[level].most > most ? network->lead[level].most : most;
    return most;
}

static int64_t at_peak(const coll_lead *lead, int64_t duration) {
    return duration * lead->peak / COLL_PEAK_PARTS;
}

/* All links have rested. */
static void open_links(coll_network *network, const coll_topo *topo, void *memory) {
    char *next = memory;
    network->links = coll_comm_room_take(&next, links(topo) * sizeof(coll_clock));
    network->queues = coll_comm_room_take(&next, uplinks(topo) * sizeof(coll_queue));
    network->ports = coll_comm_room_take(&next, (size_t)topo->nodes * sizeof(coll_port));
    memset(network->links, 0, links(topo) * sizeof(coll_clock));
    for (size_t uplink = 0; uplink < uplinks(topo); uplink++)
        network->queues[uplink] = (coll_queue){.sender = NOBODY};
    for (int node = 0; node < topo->nodes; node++)
        network->ports[node] = (coll_port){.queue = {.sender = NOBODY}};
}

/* That of a link which is TIMES as slow and saves up as many bytes. */
static coll_lead lead_of(coll_burst burst, double times) {
    return (coll_lead){.most = nanoseconds(burst.most * times),
                       .at_once = nanoseconds(burst.at_once * times),
                       .peak = (int64_t)(burst.peak * COLL_PEAK_PARTS)};
}

static void set_rates(coll_network *network, const coll_topo *topo) {
    const double stream = 32 << 10;
    for (int level = 0; level < COLL_LEVELS; level++) {
        const coll_cost *cost = &network->profile->level[level];
        const double rate = network->rate[level] = shared_rate(topo, cost, level);
        network->lead[level] = network->shared[level] = (coll_lead){.most = 0};
        if (level < COLL_LEVEL_RACK)
            continue;
        const coll_burst burst = coll_cost_burst(cost);
        network->lead[level] = lead_of(burst, 1);
        if (rate > 0)
            network->shared[level] =
                lead_of(burst, stream / coll_cost_send_gap(cost, stream) / rate);
    }
}

void coll_network_open(coll_network *network, const coll_shape *call, const coll_topo *whole,
                       void *memory) {
    network->topo = call->topo;
    network->latencies = call->latencies;
    network->lossy = false;
    network->profile = call->network ? call->network : call->profile;
    network->copied = SIZE_MAX;
    for (int i = 0; i < COLL_TOLLS; i++)
        network->tolls[i].level = NOBODY;
    set_rates(network, whole ? whole : call->topo);
    if (memory)
        open_links(network, call->topo, memory);
}

const coll_toll *coll_network_toll(coll_network *network, coll_level level, size_t bytes) {
    coll_toll *toll = &network->tolls[(bytes / 8 + bytes / 4096 * 7 + level * 13) % COLL_TOLLS];
    if (toll->level == (int)level && toll->bytes == bytes)
        return toll;
    const coll_cost *cost = &network->profile->level[level];
    double size = (double)bytes, rate = network->rate[level];
    *toll = (coll_toll){.bytes = bytes,
                        .level = (int)level,
                        .send = nanoseconds(coll_cost_send_overhead(cost, size)),
                        .take = nanoseconds(coll_cost_arrival_overhead(cost, size) +
                                            coll_cost_receive_overhead(cost, size)),
                        .wake = nanoseconds(cost->wake),
                        .out = nanoseconds(coll_cost_send_gap(cost, size)),
                        .in = nanoseconds(coll_cost_receive_gap(cost, size)),
                        .share = rate > 0 ? nanoseconds(size / rate) : 0,
                        .way = nanoseconds(coll_cost_transfer(cost, size, 2))};
    return toll;
}

int64_t coll_network_way(const coll_network *network, int from, int to, const coll_toll *toll) {
    const coll_topo *topo = network->topo;
    if (!network->latencies || toll->level != COLL_LEVEL_WIDE)
        return toll->way;
    double empty = coll_cost_transfer(&network->profile->level[COLL_LEVEL_WIDE], 0, 2),
           own = network->latencies[topo->places[from].site * topo->sites + topo->places[to].site];
    return toll->way - nanoseconds(empty) + nanoseconds(own);
}

int64_t coll_network_copy(coll_network *network, size_t bytes) {
    const coll_curve *curve = &network->profile->copy[COLL_COPY_MEMORY_TO_MEMORY];
    if (bytes != network->copied) {
        network->copied = bytes;
        network->copy = curve->knots ? nanoseconds(COLL_Curve_at(curve, (double)bytes)) : 0;
    }
    return network->copy;
}

/* The number of link NTH, from 1 on, which others share; NOBODY: there is none. */
static int shared_link(const coll_network *network, int from, int to, int level, int nth) {
    const coll_topo *topo = network->topo;
    const coll_place *place = &topo->places[nth == 1 ? from : to];
    int memories = topo->ranks + topo->nodes, switches = memories + topo->nodes,
        uplinks = switches + topo->racks, gates = uplinks + 2 * topo->racks;
    if (level == COLL_LEVEL_WIDE)
        return gates + (nth - 1) * topo->sites + place->site;
    if (level == COLL_LEVEL_SITE)
        return uplinks + (nth - 1) * topo->racks + place->rack;
    if (nth > 1)
        return NOBODY;
    return level == COLL_LEVEL_RACK ? switches + place->rack : memories + place->node;
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/*
 * A link that gets ahead has two buckets of tokens, for its rate and for its peak (GCRA, ITU-T
 * I.371). What a message alone gains by them is in its way already, as that was measured: one that
 * finds them full begins at once.
 */
static int64_t pass_ahead(coll_clock *link, int64_t duration, const coll_lead *lead, bool slips,
                          int64_t now) {
    const int64_t begin = later(link->busy, now), early = later(link->slipping, now),
                  brief = at_peak(lead, duration), bucket = at_peak(lead, lead->at_once),
                  soon = later(link->peak, now),
                  alone = later(later(duration - lead->most, brief - bucket), 0);
    link->busy = begin + duration;
    link->peak = soon + brief;
    if (!slips)
        return later(later(link->busy - lead->most, link->peak - bucket) - alone, now);
    link->slipping = early + duration;
    return later(early - later(lead->at_once - duration, 0), now);
}

static int64_t pass(coll_clock *link, int64_t duration, const coll_lead *lead, bool slips,
                    int64_t now) {
    if (lead->most)
        return pass_ahead(link, duration, lead, slips, now);
    const int64_t begin = later(link->busy, now), early = later(link->slipping, now);
    link->busy = begin + duration;
    if (slips)
        link->slipping = early + duration;
    return slips ? early : begin;
}

int64_t coll_network_pass(coll_network *network, int from, int to, const coll_toll *toll, int nth,
                          bool slips, int64_t now) {
    const coll_topo *topo = network->topo;
    if (nth == 0) {
        bool inside = toll->level <= COLL_LEVEL_NODE;
        int own = inside ? from : topo->ranks + topo->places[from].node;
        return pass(&network->links[own], toll->out, &network->lead[toll->level], slips, now);
    }
    int link = toll->share > 0 ? shared_link(network, from, to, toll->level, nth) : NOBODY;
    return link == NOBODY ? now
                          : pass(&network->links[link], toll->share, &network->shared[toll->level],
                                 slips, now);
}

/* Whether the buffer of TOLL's level can't hold what waits in QUEUE; that is found once. */
static bool overruns(coll_network *network, coll_queue *queue, const coll_toll *toll) {
    double buffer = coll_cost_buffer(&network->profile->level[toll->level]);
    if (queue->overrun || queue->sender != SEVERAL || buffer <= 0 ||
        (double)queue->waiting <= buffer)
        return false;
    return network->lossy = queue->overrun = true;
}

/* Of a connection NOW so many bytes wait; a first window of them may come at once. */
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

/* NULL: the link is no uplink. */
static coll_queue *queue_of(const coll_network *network, int from, int to, const coll_toll *toll,
                            int nth) {
    const coll_topo *topo = network->topo;
    const int first = topo->ranks + 2 * topo->nodes + topo->racks,
              link = nth > 0 ? shared_link(network, from, to, toll->level, nth) : NOBODY;
    return link < first ? NULL : &network->queues[link - first];
}

int64_t coll_network_queue(coll_network *network, int from, int to, const coll_toll *toll, int nth,
                           bool alone, size_t *waiting, int64_t on) {
    coll_queue *queue = queue_of(network, from, to, toll, nth);
    if (!queue)
        return on;
    note_sender(queue, network->topo->places[from].node);
    count_waiting(queue, waiting, *waiting + toll->bytes);
    return alone && overruns(network, queue, toll) ? on + time_out : on;
}

void coll_network_dequeue(coll_network *network, int from, int to, const coll_toll *toll, int nth,
                          size_t *waiting) {
    coll_queue *queue = queue_of(network, from, to, toll, nth);
    if (queue)
        count_waiting(queue, waiting, *waiting - toll->bytes);
}

bool coll_network_post(coll_network *network, int to, const coll_toll *toll, size_t *waiting) {
    if (toll->level <= COLL_LEVEL_NODE || toll->bytes <= LONG)
        return false;
    count_waiting(&network->ports[network->topo->places[to].node].queue, waiting,
                  *waiting + toll->bytes);
    return true;
}

int64_t coll_network_enter(coll_network *network, int from, int to, const coll_toll *toll,
                           bool slips, bool alone, size_t *waiting, int64_t now) {
    const coll_place *places = network->topo->places;
    coll_port *port = &network->ports[places[to].node];
    if (toll->level <= COLL_LEVEL_NODE)
        return now;
    int sender = places[from].node, latest = port->latest;
    bool sends = network->links[network->topo->ranks + places[to].node].busy > now;
    int64_t begin = pass(&port->clock, toll->in, &network->lead[toll->level], slips, now);
    if (!slips)
        port->latest = sender;
    if (begin == now)
        return now;
    if (sends && !slips && latest != sender)
        port->clock.busy += toll->in / meeting;
    note_sender(&port->queue, sender);
    if (toll->bytes <= LONG)
        count_waiting(&port->queue, waiting, *waiting + toll->bytes);
    if (!alone || !overruns(network, &port->queue, toll))
        return begin;
    port->clock.busy += time_out;
    return begin + time_out;
}

void coll_network_leave(coll_network *network, int to, size_t bytes, size_t *waiting) {
    count_waiting(&network->ports[network->topo->places[to].node].queue, waiting, *waiting - bytes);
}
