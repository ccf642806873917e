/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/cost/networks.h"

/*
 * If nothing was measured: a usual, a slow and a fast network, with the rate of a link in bytes/s
 * and the bytes that a switch buffers for a port. A rack's uplink has the rate of one link:
 * algorithms that are good with such uplinks are nearly as good with faster ones.
 */
static const struct {
    double rate, buffer;
} unmeasured[COLL_NETWORKS_MOST] = {{50e6, 256e3}, {5e6, 100e3}, {500e6, 1e6}};

/* What a job does not measure when it begins: the processor's seconds for a message, and a switch's
 * buffer. */
static const double OVERHEAD = 10e-6, BUFFER = 128e3;

/* If the network was measured, there are two networks: on the second one, other traffic uses half
 * of each buffer. */
enum { MEASURED = 2 };
static const double HALF = 0.5;

bool coll_networks_measured(const coll_profile *profile) {
    int level = COLL_LEVEL_RACK;
    while (level < COLL_LEVELS && !profile->measured[level])
        level++;
    return level < COLL_LEVELS;
}

int coll_networks_count(const coll_profile *profile, const coll_topo *topo) {
    if (topo->nodes < 2 || topo->sites > 1)
        return 0;
    return coll_networks_measured(profile) ? MEASURED : COLL_NETWORKS_MOST;
}

/*
 * The work of a message's end on processors that all ranks share, in units of per_rank. It is one
 * unit for ping-pongs: if half of the ranks have a message under way, which takes two ends' work,
 * each rank adds one unit to a message's time. Messages of collectives take more work. With 2 to 4
 * units choices were about equally good on ten labs whose hosts share two processors; with 1 or
 * none they were worse.
 */
static const double SHARED_WORK = 3;

/*
 * Returns the work of each end of a message if all ranks of TOPO share processors: messages take at
 * least twice as long while all ranks communicate; else messages wait for links.
 * COLL_RANKS_MEASURED ranks or more make messages equally long, so more ranks must have more
 * processors.
 */
static double shared_work(const coll_profile *profile, const coll_topo *topo) {
    const coll_cost *rack = &profile->level[COLL_LEVEL_RACK],
                    *site = &profile->level[COLL_LEVEL_SITE],
                    *cost = site->per_rank > rack->per_rank ? site : rack;
    const int ranks = topo->ranks < COLL_RANKS_MEASURED ? topo->ranks : COLL_RANKS_MEASURED;
    if (!profile->only_rates && cost->per_rank * (ranks - 2) < cost->latency)
        return 0;
    return SHARED_WORK * cost->per_rank * ranks / topo->ranks;
}

void coll_networks_get(const coll_profile *profile, const coll_topo *topo, int nth,
                       coll_profile *network) {
    const bool measured = coll_networks_measured(profile),
               complete = measured && !profile->only_rates;
    *network = *profile;
    for (int level = COLL_LEVEL_RACK; level < COLL_LEVELS; level++) {
        coll_cost *cost = &network->level[level];
        if (!measured)
            cost->per_byte = 1 / unmeasured[nth].rate;
        if (!complete) {
            cost->overhead = OVERHEAD;
            cost->buffer = measured ? BUFFER : unmeasured[nth].buffer;
        }
        if (measured && nth > 0)
            cost->buffer *= HALF;
        for (int i = 0; i < COLL_PARAMETERS; i++)
            cost->curve[i].knots = 0;
    }
    network->shared_work = shared_work(profile, topo);
    if (!measured)
        network->level[COLL_LEVEL_SITE].together = topo->racks * unmeasured[nth].rate;
}

double coll_networks_buffer_share(const coll_profile *profile, int nth) {
    return nth > 0 && coll_networks_measured(profile) ? HALF : -1;
}

const coll_profile *coll_networks_likely(const coll_profile *profile, const coll_topo *topo,
                                         coll_profile *network) {
    if (!coll_networks_measured(profile) || coll_networks_count(profile, topo) == 0)
        return profile;
    coll_networks_get(profile, topo, 0, network);
    return network;
}
