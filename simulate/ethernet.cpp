/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cluster of Tam and Wang (section 4): sixteen hosts e0, e1, ... on one Fast Ethernet switch,
 * with the parameters of its table 1 for messages of more than 40 bytes. A message longer than a
 * packet of 1500 bytes costs as much as its packets together.
 */
#include "zones.hpp"

#include <cmath>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <string>

namespace s4u = simgrid::s4u;

static const int hosts = 16;
static const double packet = 1500;       // bytes
static const double speed = 1 / 82.6e-9; // bytes/s: the slope of L
static const double latency = 19.8e-6;   // s: L of an empty message between two hosts

/* Returns the cost of a message: FIXED seconds a packet and SLOPE seconds a byte. */
static double cost(size_t bytes, double fixed, double slope) {
    double size = static_cast<double>(bytes);
    return std::fmax(1, std::ceil(size / packet)) * fixed + size * slope;
}

extern "C" void load_platform(const s4u::Engine &engine);
void load_platform(const s4u::Engine &) {
    auto *zone = outer_star("switch");
    for (int i = 0; i < hosts; i++) {
        std::string name = "e" + std::to_string(i);
        auto *host = zone->create_host(name, 1e10)->seal();
        auto *link = zone->create_split_duplex_link("link-" + name, speed);
        link->set_latency(latency / 2)->seal();
        zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                        {{link, s4u::LinkInRoute::Direction::UP}}, true);
    }
    zone->seal();
    auto send = [](size_t bytes, s4u::Host *, s4u::Host *) { // Os
        return cost(bytes, 6.37e-6, 25.3e-9);
    };
    smpi_register_op_cost_callback(SmpiOperation::SEND, send);
    smpi_register_op_cost_callback(SmpiOperation::ISEND, send);
    smpi_register_op_cost_callback(SmpiOperation::RECV, // Or + Ur
                                   [](size_t bytes, s4u::Host *, s4u::Host *) {
                                       return cost(bytes, 12.176e-6, 42.9e-9) + 9.93e-6;
                                   });
}
