/*
 * The networks that a job may be running on where nobody has measured its own. An algorithm that
 * is good on all of them is chosen (lib/operation/select.h). Pure.
 */
#ifndef COLL_LIB_COST_NETWORKS_H
#define COLL_LIB_COST_NETWORKS_H

#include "lib/cost/profile.h"
#include "lib/place/topo.h"

/*
 * Returns how many networks ranks of TOPO may be running on: 0 where PROFILE, which was measured,
 * says it, and where they are on one node or in several sites.
 */
int coll_networks_count(const coll_profile *profile, const coll_topo *topo);

/*
 * Sets NETWORK, which owns nothing, to the NTH of them, from 0: in all else like the built-in
 * PROFILE. The first one is the most usual.
 */
void coll_networks_get(const coll_profile *profile, const coll_topo *topo, int nth,
                       coll_profile *network);

#endif
