/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/cost/networks.h"

#include <assert.h>

/*
 * Assumptions about the links between hosts: the rate of a link in bytes/s, the processor's seconds
 * for a message, the bytes that a switch buffers for a port (0 in any of these: the profile's
 * value), and the share of the buffer that the job has.
 */
typedef struct assumption {
    double rate, overhead, buffer, share;
} assumption;

/* A usual, a slow and a fast network. A rack's uplink has the rate of one link: algorithms that are
 * good with such uplinks are nearly as good with faster ones. */
static const assumption unmeasured[] = {
    {50e6, 10e-6, 256e3, 1}, {5e6, 10e-6, 100e3, 1}, {500e6, 10e-6, 1e6, 1}};

/* Only rates and per_rank were measured (lib/cost/network_probe.h). */
static const assumption only_rates[] = {{0, 10e-6, 128e3, 1}, {0, 10e-6, 64e3, 1}};

/* Everything was measured, but other traffic may use a part of the buffer. */
static const assumption measured[] = {{.share = 1}, {.share = 0.5}};

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof *(array)))

/* Returns the assumptions for PROFILE, and sets *COUNT to their number. */
static const assumption *assumptions_for(const coll_profile *profile, int *count) {
    if (!coll_networks_measured(profile)) {
        *count = COUNT_OF(unmeasured);
        return unmeasured;
    }
    *count = profile->only_rates ? COUNT_OF(only_rates) : COUNT_OF(measured);
    return profile->only_rates ? only_rates : measured;
}

bool coll_networks_measured(const coll_profile *profile) {
    int level = COLL_LEVEL_RACK;
    while (level < COLL_LEVELS && !profile->measured[level])
        level++;
    return level < COLL_LEVELS;
}

int coll_networks_count(const coll_profile *profile, const coll_topo *topo) {
    static_assert(COUNT_OF(unmeasured) <= COLL_NETWORKS_MOST, "callers have room for all");
    int count;
    (void)assumptions_for(profile, &count);
    return topo->nodes < 2 || topo->sites > 1 ? 0 : count;
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
    int count;
    const assumption *assumed = &assumptions_for(profile, &count)[nth];
    *network = *profile;
    for (int level = COLL_LEVEL_RACK; level < COLL_LEVELS; level++) {
        coll_cost *cost = &network->level[level];
        if (assumed->rate > 0)
            cost->per_byte = 1 / assumed->rate;
        if (assumed->overhead > 0)
            cost->overhead = assumed->overhead;
        cost->buffer = assumed->share * (assumed->buffer > 0 ? assumed->buffer : cost->buffer);
        for (int i = 0; i < COLL_PARAMETERS; i++)
            cost->curve[i].knots = 0;
    }
    network->shared_work = shared_work(profile, topo);
    if (assumed->rate > 0)
        network->level[COLL_LEVEL_SITE].together = topo->racks * assumed->rate;
}

double coll_networks_buffer_share(const coll_profile *profile, int nth) {
    int count;
    const assumption *all = assumptions_for(profile, &count), *now = &all[nth];
    if (nth == 0 || now->rate != now[-1].rate || now->overhead != now[-1].overhead)
        return -1;
    return now->share / now[-1].share * (now[-1].buffer > 0 ? now->buffer / now[-1].buffer : 1);
}

const coll_profile *coll_networks_likely(const coll_profile *profile, const coll_topo *topo,
                                         coll_profile *network) {
    if (!coll_networks_measured(profile) || coll_networks_count(profile, topo) == 0)
        return profile;
    coll_networks_get(profile, topo, 0, network);
    return network;
}
