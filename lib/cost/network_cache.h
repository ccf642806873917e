/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network between a set of hosts, as measured when a job began (lib/cost/network_probe.h), kept
 * for later jobs on the same hosts: a profile in the cache (lib/topology/topocache.h).
 */
#ifndef COLL_LIB_COST_NETWORK_CACHE_H
#define COLL_LIB_COST_NETWORK_CACHE_H

#include "lib/cost/profile.h"
#include "lib/topology/topo.h"

/*
 * Replaces PROFILE, a built-in profile, by the one kept for the hosts of TOPO. Returns false, with
 * PROFILE unchanged, if none is kept, if it is older than a week or damaged, or if only one of TOPO
 * and the kept profile has several racks.
 */
bool coll_network_cache_load(const coll_topo *topo, coll_profile *profile);

/* Keeps the measured levels of PROFILE for the hosts of TOPO, if there is a home directory that can
 * be written. */
void coll_network_cache_save(const coll_topo *topo, const coll_profile *profile);

#endif
