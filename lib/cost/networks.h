/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The networks that a job may be running on. The algorithm that is good on all these networks is
 * chosen (lib/tuning/select.h). Each level of a network is described by a few figures: latency,
 * overhead, rates and buffer; per_rank tells whether ranks share processors. The fitted curves of a
 * profile are left out: their noise at single sizes makes choices worse. Pure.
 */
#ifndef COLL_LIB_COST_NETWORKS_H
#define COLL_LIB_COST_NETWORKS_H

#include "lib/cost/profile.h"
#include "lib/topology/topo.h"

enum { COLL_NETWORKS_MOST = 3 };

/* Returns whether PROFILE contains measured costs of messages between hosts. */
bool coll_networks_measured(const coll_profile *profile);

/*
 * Returns how many networks the ranks of TOPO may be running on, at most COLL_NETWORKS_MOST.
 * Returns 0 if the ranks are on one node or in several sites: then PROFILE itself is used.
 */
int coll_networks_count(const coll_profile *profile, const coll_topo *topo);

/* Sets NETWORK to the NTH of these networks, counted from 0: PROFILE with other links between
 * nodes. Network 0 is the most likely one. */
void coll_networks_get(const coll_profile *profile, const coll_topo *topo, int nth,
                       coll_profile *network);

/* Returns the share of the previous network's buffers that the NTH network has, if the networks
 * differ in nothing else; else -1. */
double coll_networks_buffer_share(const coll_profile *profile, int nth);

/*
 * Returns the network whose predicted times are shown to the user: PROFILE itself if it has no
 * measured costs between hosts or coll_networks_count returns 0, else the most likely of the
 * networks above, which is stored in NETWORK.
 */
const coll_profile *coll_networks_likely(const coll_profile *profile, const coll_topo *topo,
                                         coll_profile *network);

#endif
