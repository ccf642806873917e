/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The eight clusters of Park and others (section 4), with four hosts each at 100 Mbit/s; h0 to h3
 * are the first cluster's.
 *
 * The paper does not state the latencies between its own clusters. The latencies of its example,
 * figure 1, are used instead, from the file that MATRIX names (grid.txt; see coll-hlot(1) for the
 * syntax). A wide-area link carries 10 Mbit/s from each site to each other site.
 */
#include "zones.hpp"

#include <cstdlib>
#include <fstream>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace s4u = simgrid::s4u;

static const int sites = 8, hosts_per_site = 4;
static const double local_speed = 12.5e6, wide_speed = 1.25e6; // bytes/s
static const double local_latency = 50e-6, unit = 0.1e-3;      // s

/*
 * Reads the lines of numbers, which are in units of 0.1 ms. Returns the latency in seconds from
 * each site to each other site.
 */
static std::vector<std::vector<double>> read_latencies(const char *path) {
    std::vector<std::vector<double>> matrix;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::vector<double> row;
        for (double number; words >> number;)
            row.push_back(number * unit);
        if (row.size() == sites)
            matrix.push_back(row);
    }
    xbt_assert(matrix.size() == sites, "%s: not a matrix of %d sites", path, sites);
    return matrix;
}

extern "C" void load_platform(const s4u::Engine &engine);
void load_platform(const s4u::Engine &) {
    const char *path = std::getenv("MATRIX");
    auto latency = read_latencies(path ? path : "grid.txt");
    auto *zone = outer_full("wide");
    std::vector<s4u::Host *> hosts;
    for (int i = 0; i < sites * hosts_per_site; i++)
        hosts.push_back(zone->create_host("h" + std::to_string(i), 1e10)->seal());
    for (int from = 0; from < sites; from++)
        for (int to = 0; to < sites; to++) {
            std::string name = std::to_string(from) + "-" + std::to_string(to);
            auto *link = zone->create_link(name, from == to ? local_speed : wide_speed);
            link->set_latency(from == to ? local_latency : latency[from][to])->seal();
            for (int a = from * hosts_per_site; a < (from + 1) * hosts_per_site; a++)
                for (int b = to * hosts_per_site; b < (to + 1) * hosts_per_site; b++)
                    zone->add_route(hosts[a]->get_netpoint(), hosts[b]->get_netpoint(), nullptr,
                                    nullptr, {s4u::LinkInRoute(link)}, false);
        }
    zone->seal();
}
