/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/cost/networks.h"

#include <assert.h>
#include <stddef.h>

/*
 * A usual, a slow and a fast network: the rate of a host's link in bytes/s, and the bytes that a
 * switch buffers for a port. A rack's uplink has the rate of one link: algorithms that are good
 * with such uplinks are nearly as good with faster ones.
 */
static const struct {
    double rate, buffer;
} unmeasured[] = {{50e6, 256e3}, {5e6, 100e3}, {500e6, 1e6}};

/* Seconds of a processor for sending or receiving a message. */
static const double OVERHEAD = 10e-6;

/*
 * What only rates were measured of (lib/cost/network_probe.h): seconds of a processor for a
 * message, which take longer where ranks share cores, and the bytes that a switch buffers.
 */
static const struct { double overhead, buffer; } only_rates[] = {{10e-6, 256e3}, {50e-6, 64e3}};

/* Shares of a buffer that the job may have: other traffic may use a part of it. */
static const double buffer_shares[] = {1, 0.5};

enum {
    UNMEASURED = sizeof unmeasured / sizeof *unmeasured,
    ONLY_RATES = sizeof only_rates / sizeof *only_rates,
    MEASURED = sizeof buffer_shares / sizeof *buffer_shares
};

bool coll_networks_measured(const coll_profile *profile) {
    int level = COLL_LEVEL_RACK;
    while (level < COLL_LEVELS && !profile->measured[level])
        level++;
    return level < COLL_LEVELS;
}

int coll_networks_count(const coll_profile *profile, const coll_topo *topo) {
    static_assert((int)UNMEASURED <= (int)COLL_NETWORKS_MOST, "callers have room for all");
    static_assert((int)MEASURED <= (int)COLL_NETWORKS_MOST, "callers have room for all");
    static_assert((int)ONLY_RATES <= (int)COLL_NETWORKS_MOST, "callers have room for all");
    if (topo->nodes < 2 || topo->sites > 1)
        return 0;
    return !coll_networks_measured(profile) ? UNMEASURED
           : profile->only_rates            ? ONLY_RATES
                                            : MEASURED;
}

/* Leaves COST its figures, without curves, and a share of its buffer. */
static void set_measured(coll_cost *cost, int nth) {
    cost->buffer *= buffer_shares[nth];
    for (int i = 0; i < COLL_PARAMETERS; i++)
        cost->curve[i].knots = 0;
}

/* Leaves COST its latency and rates. */
static void set_only_rates(coll_cost *cost, int nth) {
    cost->overhead = only_rates[nth].overhead;
    cost->buffer = only_rates[nth].buffer;
}

static void set_unmeasured(coll_cost *cost, int nth) {
    cost->overhead = OVERHEAD;
    cost->per_byte = 1 / unmeasured[nth].rate;
    cost->buffer = unmeasured[nth].buffer;
}

void coll_networks_get(const coll_profile *profile, const coll_topo *topo, int nth,
                       coll_profile *network) {
    const bool measured = coll_networks_measured(profile);
    *network = *profile;
    for (int level = COLL_LEVEL_RACK; level < COLL_LEVELS; level++)
        (!measured             ? set_unmeasured
         : profile->only_rates ? set_only_rates
                               : set_measured)(&network->level[level], nth);
    if (!measured)
        network->level[COLL_LEVEL_SITE].together = topo->racks * unmeasured[nth].rate;
}

const coll_profile *coll_networks_likely(const coll_profile *profile, const coll_topo *topo,
                                         coll_profile *network) {
    if (!coll_networks_measured(profile) || coll_networks_count(profile, topo) == 0)
        return profile;
    coll_networks_get(profile, topo, 0, network);
    return network;
}
