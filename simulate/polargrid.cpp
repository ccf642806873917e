/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PolarGrid, the cluster of the Map-Collective papers (section 6.1 of "High Performance Clustering
 * of Social Images"): racks of 42 nodes, 1 Gbit/s to each node, 10 Gbit/s from each rack to the
 * core.
 *
 * Environment variables, with their defaults in parentheses: there are NODES (151) hosts n0, n1,
 * ...; UPLINK (10) is a rack's uplink speed in Gbit/s; if FULL_DUPLEX (1) is 0, both directions of
 * an uplink share this speed; all links are SCALE (1) times slower.
 *
 * SimGrid shares a link among all outstanding messages, so a window of segments takes as long as
 * one segment of its size. Windows are therefore short here. (A link with one message at a time
 * would fix that, but then a chain's confirmations would wait behind its segments, which happens on
 * no TCP connection.)
 */
#include "zones.hpp"

#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <string>

namespace s4u = simgrid::s4u;

static const int rack_size = 42;
static const double node_latency = 20e-6, uplink_latency = 10e-6;

/* Converts Gbit/s to the simulated bytes/s. */
static double gigabits(double count) {
    return count * 125e6 / setting("SCALE", 1);
}

static void add_node(s4u::NetZone *rack, int number) {
    std::string name = "n" + std::to_string(number);
    auto *host = rack->create_host(name, 1e10)->seal();
    auto *link = rack->create_split_duplex_link("link-" + name, gigabits(1));
    link->set_latency(node_latency)->seal();
    rack->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{link, s4u::LinkInRoute::Direction::UP}}, true);
}

static void add_rack(s4u::NetZone *core, int number, int nodes) {
    std::string name = "rack" + std::to_string(number);
    double speed = gigabits(setting("UPLINK", 10));
    auto *rack = inner_star(core, name);
    auto *sw = rack->create_router("switch-" + name);
    for (int i = number * rack_size; i < nodes && i < (number + 1) * rack_size; i++)
        add_node(rack, i);
    rack->seal();
    if (setting("FULL_DUPLEX", 1) > 0) {
        auto *uplink = core->create_split_duplex_link("uplink-" + name, speed);
        uplink->set_latency(uplink_latency)->seal();
        core->add_route(rack->get_netpoint(), nullptr, sw, nullptr,
                        {{uplink, s4u::LinkInRoute::Direction::UP}}, true);
    } else {
        auto *uplink = core->create_link("uplink-" + name, speed)->set_latency(uplink_latency);
        uplink->seal();
        core->add_route(rack->get_netpoint(), nullptr, sw, nullptr, {s4u::LinkInRoute(uplink)},
                        true);
    }
}

extern "C" void load_platform(const s4u::Engine &engine);
void load_platform(const s4u::Engine &) {
    int nodes = static_cast<int>(setting("NODES", 151));
    auto *core = outer_star("core");
    for (int rack = 0; rack * rack_size < nodes; rack++)
        add_rack(core, rack, nodes);
    core->seal();
}
