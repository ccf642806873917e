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

/* Only rates were measured (lib/cost/network_probe.h). On half of these networks ranks share cores:
 * messages take their processors longer. */
static const assumption only_rates[] = {
    {0, 10e-6, 256e3, 1}, {0, 10e-6, 128e3, 1}, {0, 50e-6, 128e3, 1}, {0, 50e-6, 64e3, 1}};

/* Everything was measured, but other traffic may use a part of the buffer. */
static const assumption measured[] = {{.share = 1}, {.share = 0.5}};

/* coll-profile measures per_rank with at most so many ranks (SURVEY_CROWD pairs). */
enum { RANKS_MEASURED = 64 };

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
 * Returns the seconds by which a message takes each end longer if all RANKS send and receive at the
 * same time: they wait for processors, or for a host's link, that they share. COST->per_rank was
 * measured by ping-pongs, in which only one rank of a pair works at a time. With all ranks working,
 * both ends take as much longer as the whole message did then.
 */
static double shared_overhead(const coll_cost *cost, int ranks) {
    return cost->per_rank * ((ranks < RANKS_MEASURED ? ranks : RANKS_MEASURED) - 2);
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
        const double shared = shared_overhead(cost, topo->ranks);
        cost->overhead += shared;
        cost->latency += 2 * shared;
        cost->buffer = assumed->share * (assumed->buffer > 0 ? assumed->buffer : cost->buffer);
        for (int i = 0; i < COLL_PARAMETERS; i++)
            cost->curve[i].knots = 0;
    }
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
