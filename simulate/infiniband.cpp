/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cluster of Sancho, Kerbyson and Barker (section V.A): nodes of two sockets with two cores
 * each, which share one InfiniBand 4x SDR card, on one switch; 4 us and 950 MB/s from node to node.
 *
 * NODES (1024; the paper has 256) hosts i0, i1, ... of four cores. Latency and speed are the
 * paper's. Names in capitals are environment variables, with their defaults in parentheses. Fitted
 * to the paper's curve over the number of dedicated processors are
 *   OVERHEAD_US (0.5)  a processor's time for each send and each receive, and
 *   PEER_NS (25)       added to that time for each node beyond PEERS (16) with which the processor
 *                      has communicated in the last 10 ms: for searching queues for a match, and
 *                      for connections whose state the card doesn't hold.
 */
#include "zones.hpp"

#include <cstdlib>
#include <deque>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <string>
#include <unordered_map>
#include <utility>

namespace s4u = simgrid::s4u;

static const double card_speed = 950e6, memory_speed = 4e9;       // bytes/s
static const double card_latency = 2e-6, memory_latency = 0.5e-6; // s; a message crosses two cards

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

/* The nodes with which one processor has communicated lately. */
class Peers {
    std::deque<std::pair<double, const s4u::Host *>> messages;
    std::unordered_map<const s4u::Host *, int> count;

  public:
    /* Records a message to or from NODE. Returns the number of nodes in the last 10 ms. */
    double note(const s4u::Host *node) {
        double now = s4u::Engine::get_clock();
        messages.emplace_back(now, node);
        count[node]++;
        for (; messages.front().first < now - 0.01; messages.pop_front())
            if (--count[messages.front().second] == 0)
                count.erase(messages.front().second);
        return static_cast<double>(count.size());
    }
};

static double overhead(const s4u::Host *peer) {
    static const double each = setting("OVERHEAD_US", 0.5) * 1e-6;
    static const double more = setting("PEER_NS", 25) * 1e-9, at_once = setting("PEERS", 16);
    static std::unordered_map<aid_t, Peers> peers;
    double beyond = peers[s4u::this_actor::get_pid()].note(peer) - at_once;
    return beyond > 0 ? each + more * beyond : each;
}

extern "C" void load_platform(const s4u::Engine &engine);
void load_platform(const s4u::Engine &) {
    int nodes = static_cast<int>(setting("NODES", 1024));
    auto *zone = outer_star("switch");
    for (int i = 0; i < nodes; i++)
        add_node(zone, i);
    zone->seal();
    smpi_register_op_cost_callback(
        SmpiOperation::RECV, [](size_t, s4u::Host *from, s4u::Host *) { return overhead(from); });
    auto send = [](size_t, s4u::Host *, s4u::Host *to) { return overhead(to); };
    smpi_register_op_cost_callback(SmpiOperation::SEND, send);
    smpi_register_op_cost_callback(SmpiOperation::ISEND, send);
}
