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

/* Links in the order of their numbers: of ranks, hosts, hosts' memories, racks' switches, racks'
 * uplinks out and in, sites' uplinks out and in. */
static size_t links(const coll_topo *topo) {
    return (size_t)topo->ranks + 2 * (size_t)topo->nodes + 3 * (size_t)topo->racks +
           2 * (size_t)topo->sites;
}

size_t coll_network_bytes(const coll_topo *topo) {
    return 2 * coll_comm_room_of(links(topo) * sizeof(int64_t)) +
           coll_comm_room_of((size_t)topo->nodes * sizeof(coll_port));
}

static void open_links(coll_network *network, const coll_topo *topo, void *memory) {
    char *next = memory;
    network->busy = coll_comm_room_take(&next, links(topo) * sizeof(int64_t));
    network->slipping = coll_comm_room_take(&next, links(topo) * sizeof(int64_t));
    network->ports = coll_comm_room_take(&next, (size_t)topo->nodes * sizeof(coll_port));
    memset(network->busy, 0, links(topo) * sizeof(int64_t));
    memset(network->slipping, 0, links(topo) * sizeof(int64_t));
    for (int node = 0; node < topo->nodes; node++)
        network->ports[node] = (coll_port){.sender = NOBODY};
}

void coll_network_open(coll_network *network, const coll_shape *call, const coll_topo *whole,
                       void *memory) {
    const coll_topo *topo = call->topo;
    const coll_profile *profile = call->profile;
    network->topo = topo;
    network->latencies = call->latencies;
    network->lossy = false;
    network->profile = profile;
    network->copied = SIZE_MAX;
    if (memory)
        open_links(network, topo, memory);
    for (int i = 0; i < COLL_TOLLS; i++)
        network->tolls[i].level = NOBODY;
    for (int level = 0; level < COLL_LEVELS; level++)
        network->rate[level] = shared_rate(whole ? whole : topo, &profile->level[level], level);
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

static int64_t pass(int64_t *busy, int64_t *slipping, int64_t duration, bool slips, int64_t now) {
    int64_t begin = *busy > now ? *busy : now, early = *slipping > now ? *slipping : now;
    *busy = begin + duration;
    if (slips)
        *slipping = early + duration;
    return slips ? early : begin;
}

int64_t coll_network_pass(coll_network *network, int from, int to, const coll_toll *toll, int nth,
                          bool slips, int64_t now) {
    const coll_topo *topo = network->topo;
    if (nth == 0) {
        bool inside = toll->level <= COLL_LEVEL_NODE;
        int own = inside ? from : topo->ranks + topo->places[from].node;
        return pass(&network->busy[own], &network->slipping[own], toll->out, slips, now);
    }
    int link = toll->share > 0 ? shared_link(network, from, to, toll->level, nth) : NOBODY;
    return link == NOBODY
               ? now
               : pass(&network->busy[link], &network->slipping[link], toll->share, slips, now);
}

/* Whether the buffer of TOLL's level can't hold what waits at PORT; that is found once. */
static bool overruns(coll_network *network, coll_port *port, const coll_toll *toll) {
    double buffer = coll_cost_buffer(&network->profile->level[toll->level]);
    if (network->lossless || port->overrun || port->sender != SEVERAL || buffer <= 0 ||
        (double)port->waiting <= buffer)
        return false;
    return network->lossy = port->overrun = true;
}

/* Of a connection NOW so many bytes wait; a first window of them may come at once. */
static void count_waiting(coll_port *port, size_t *waiting, size_t now) {
    size_t before = *waiting < FIRST_WINDOW ? *waiting : FIRST_WINDOW,
           after = now < FIRST_WINDOW ? now : FIRST_WINDOW;
    port->waiting += after - before;
    *waiting = now;
}

bool coll_network_post(coll_network *network, int to, const coll_toll *toll, size_t *waiting) {
    if (toll->level <= COLL_LEVEL_NODE || toll->bytes <= LONG)
        return false;
    count_waiting(&network->ports[network->topo->places[to].node], waiting, *waiting + toll->bytes);
    return true;
}

int64_t coll_network_enter(coll_network *network, int from, int to, const coll_toll *toll,
                           bool slips, bool alone, size_t *waiting, int64_t now) {
    const coll_place *places = network->topo->places;
    coll_port *port = &network->ports[places[to].node];
    if (toll->level <= COLL_LEVEL_NODE)
        return now;
    int sender = places[from].node, latest = port->latest;
    bool sends = network->busy[network->topo->ranks + places[to].node] > now;
    int64_t begin = pass(&port->busy, &port->slipping, toll->in, slips, now);
    if (!slips)
        port->latest = sender;
    if (begin == now)
        return now;
    if (sends && !slips && latest != sender)
        port->busy += toll->in / meeting;
    port->sender = port->sender == NOBODY || port->sender == sender ? sender : SEVERAL;
    if (toll->bytes <= LONG)
        count_waiting(port, waiting, *waiting + toll->bytes);
    if (!alone || !overruns(network, port, toll))
        return begin;
    port->busy += time_out;
    return begin + time_out;
}

void coll_network_leave(coll_network *network, int to, size_t bytes, size_t *waiting) {
    coll_port *port = &network->ports[network->topo->places[to].node];
    count_waiting(port, waiting, *waiting - bytes);
    if (port->waiting == 0)
        port->sender = NOBODY;
}
