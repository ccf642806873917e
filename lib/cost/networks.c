#include "config.h"

#include "lib/cost/networks.h"

#include <assert.h>
#include <stddef.h>

/*
 * Bytes a second of a host's link: usual, slow and fast. A rack's uplink carries as much as one
 * link: what is good there is nearly as good where uplinks carry more.
 */
static const double rates[] = {50e6, 5e6, 500e6};

/* Seconds that a processor spends on sending or receiving a message. */
static const double OVERHEAD = 10e-6;

int coll_networks_count(const coll_profile *profile, const coll_topo *topo) {
    if (topo->nodes < 2 || topo->sites > 1 || profile->trials > 0)
        return 0;
    for (int level = COLL_LEVEL_RACK; level < COLL_LEVELS; level++)
        if (profile->measured[level])
            return 0;
    static_assert(sizeof rates / sizeof *rates <= COLL_NETWORKS_MOST, "callers have room for all");
    return sizeof rates / sizeof *rates;
}

void coll_networks_get(const coll_profile *profile, const coll_topo *topo, int nth,
                       coll_profile *network) {
    *network = *profile;
    for (int level = COLL_LEVEL_RACK; level < COLL_LEVELS; level++) {
        network->level[level].overhead = OVERHEAD;
        network->level[level].per_byte = 1 / rates[nth];
    }
    network->level[COLL_LEVEL_SITE].together = topo->racks * rates[nth];
}
