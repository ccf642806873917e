/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The networks that a job may be running on. The algorithm that is good on all of them is chosen
 * (lib/tuning/select.h). Each level of a network is described by a few figures: latency,
 * overhead, rates and buffer. The fitted curves of a profile are left out: their noise at single
 * sizes makes choices worse. Pure.
 */
#ifndef COLL_LIB_COST_NETWORKS_H
#define COLL_LIB_COST_NETWORKS_H

#include "lib/cost/profile.h"
#include "lib/topology/topo.h"

enum { COLL_NETWORKS_MOST = 32 };

/* Returns whether PROFILE has measured what messages cost between hosts. */
bool coll_networks_measured(const coll_profile *profile);

/*
 * Returns how many networks the ranks of TOPO may be running on, at most COLL_NETWORKS_MOST.
 * Returns 0 if the ranks are on one node or in several sites: then PROFILE itself counts.
 */
int coll_networks_count(const coll_profile *profile, const coll_topo *topo);

/* Sets NETWORK to the NTH of them, from 0, the most likely one: PROFILE with other links between
 * nodes. */
void coll_networks_get(const coll_profile *profile, const coll_topo *topo, int nth,
                       coll_profile *network);

/*
 * Returns the network whose predicted times are shown to the user: PROFILE itself, or if it was
 * measured, the most likely of the networks above, which is made in NETWORK.
 */
const coll_profile *coll_networks_likely(const coll_profile *profile, const coll_topo *topo,
                                         coll_profile *network);

#endif
