/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cluster of no paper: NODES (128) hosts f0, f1, ... of 64 cores on one switch, over TCP. Nothing
 * is fitted. Environment variables, with their defaults in parentheses, which are round figures for
 * 10 Gbit/s Ethernet:
 *   RATE_GBIT (10)       rate of each host's link, which all its ranks share
 *   LATENCY_US (20)      from host to host
 *   OVERHEAD_US (3)      a processor's time for each send and each receive, to or from another host
 *   INSIDE_US (0.3)      from rank to rank in a host; sender and receiver take 0.2 us more each
 */
#include "zones.hpp"

#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <string>

namespace s4u = simgrid::s4u;

static const double memory_speed = 8e9;       // bytes/s, for each message
static const double inside_overhead = 0.2e-6; // s

static void add_node(s4u::NetZone *zone, int number) {
    std::string name = "f" + std::to_string(number);
    auto *host = zone->create_host(name, 1e10)->set_core_count(64)->seal();
    auto *card = zone->create_split_duplex_link("card-" + name, setting("RATE_GBIT", 10) * 125e6);
    card->set_latency(setting("LATENCY_US", 20) / 2 * 1e-6)->seal();
    auto *memory = zone->create_link("memory-" + name, memory_speed)
                       ->set_latency(setting("INSIDE_US", 0.3) * 1e-6);
    memory->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{card, s4u::LinkInRoute::Direction::UP}}, true);
    zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr,
                    {s4u::LinkInRoute(memory)}, false);
}

static double overhead(size_t, s4u::Host *from, s4u::Host *to) {
    static const double outside = setting("OVERHEAD_US", 3) * 1e-6;
    return from == to ? inside_overhead : outside;
}

extern "C" void load_platform(const s4u::Engine &engine);
void load_platform(const s4u::Engine &) {
    int nodes = static_cast<int>(setting("NODES", 128));
    auto *zone = outer_star("switch");
    for (int i = 0; i < nodes; i++)
        add_node(zone, i);
    zone->seal();
    smpi_register_op_cost_callback(SmpiOperation::RECV, overhead);
    smpi_register_op_cost_callback(SmpiOperation::SEND, overhead);
    smpi_register_op_cost_callback(SmpiOperation::ISEND, overhead);
}
