/*
 * The cluster of the paper "CDCP" (section V.A): nodes of two sockets with two cores each, which share
 * one InfiniBand 4x SDR card, on one switch; 4 us and 950 MB/s from node to node.
 *
 * NODES (160) hosts i0, i1, ... of four cores. From the papers are the latency and the speed; fitted
 * to their curve over the number of dedicated processors are
 *   OVERHEAD_US (0.5)  a processor's time for each send and each receive, and
 *   PEER_NS (25)       what each of a processor's peers beyond PEERS (16) adds to that: queues that
 *                      are searched for a match, and connections whose state the card doesn't hold.
 */
#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace s4u = simgrid::s4u;

static const double card_speed = 950e6, memory_speed = 4e9;         // bytes/s
static const double card_latency = 2e-6, memory_latency = 0.5e-6; // s; a message crosses two cards

static double setting(const char *name, double otherwise) {
    const char *text = std::getenv(name);
    return text ? std::atof(text) : otherwise;
}

static void add_node(s4u::NetZone *zone, int number) {
    std::string name = "i" + std::to_string(number);
    auto *host = zone->create_host(name, 1e10)->set_core_count(4)->seal();
    auto *card = zone->create_split_duplex_link("card-" + name, card_speed);
    card->set_latency(card_latency)->seal();
    auto *memory = zone->create_link("memory-" + name, memory_speed)->set_latency(memory_latency);
    memory->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{card, s4u::LinkInRoute::Direction::UP}}, true);
    zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr,
                    {s4u::LinkInRoute(memory)}, false);
}

/* How many processors the one that is running has talked with, PEER among them. */
static double count_peers(const s4u::Host *peer) {
    static std::unordered_map<aid_t, std::unordered_set<const s4u::Host *>> peers;
    auto &mine = peers[s4u::this_actor::get_pid()];
    mine.insert(peer);
    return static_cast<double>(mine.size());
}

static double overhead(const s4u::Host *peer) {
    static const double each = setting("OVERHEAD_US", 0.5) * 1e-6;
    static const double more = setting("PEER_NS", 25) * 1e-9, at_once = setting("PEERS", 16);
    double beyond = count_peers(peer) - at_once;
    return beyond > 0 ? each + more * beyond : each;
}

extern "C" void load_platform(const s4u::Engine &engine);
void load_platform(const s4u::Engine &) {
    int nodes = static_cast<int>(setting("NODES", 160));
    auto *zone = s4u::create_star_zone("switch");
    for (int i = 0; i < nodes; i++)
        add_node(zone, i);
    zone->seal();
    smpi_register_op_cost_callback(SmpiOperation::RECV,
                                   [](size_t, s4u::Host *from, s4u::Host *) { return overhead(from); });
    auto send = [](size_t, s4u::Host *, s4u::Host *to) { return overhead(to); };
    smpi_register_op_cost_callback(SmpiOperation::SEND, send);
    smpi_register_op_cost_callback(SmpiOperation::ISEND, send);
}
