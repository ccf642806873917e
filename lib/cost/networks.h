/*
 * The networks that a job may be running on where nobody has measured its own. An algorithm that
 * is good on all of them is chosen (lib/operation/select.h). Pure.
 */
#ifndef COLL_LIB_COST_NETWORKS_H
#define COLL_LIB_COST_NETWORKS_H

#include "lib/cost/profile.h"
#include "lib/place/topo.h"

enum { COLL_NETWORKS_MOST = 32 };

/*
 * Returns how many networks the ranks of TOPO may be running on. COLL_NETWORKS_MOST at most.
 * Returns 0 if PROFILE was measured, and if they are on one node or in several sites.
 */
int coll_networks_count(const coll_profile *profile, const coll_topo *topo);

/*
 * Sets NETWORK to the NTH of them, from 0, the most usual one: PROFILE with other links between
 * nodes. NETWORK must not be freed.
 */
void coll_networks_get(const coll_profile *profile, const coll_topo *topo, int nth,
                       coll_profile *network);

#endif
