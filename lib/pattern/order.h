/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The chain order, which visits ranks so that every uplink is crossed once in each direction: the
 * root's NUMA domain, then the rest of its node, of its rack, of its site, then the other sites. At
 * every level a unit is finished before the next one begins. Ranks, nodes, racks and sites are in
 * ascending order from the root's on, and around from 0. No communication.
 */
#ifndef COLL_LIB_PATTERN_ORDER_H
#define COLL_LIB_PATTERN_ORDER_H

#include "lib/topology/topo.h"

/* Scratch memory for one rank. */
typedef struct coll_visit {
    int rank;
    int next; /* where the next rank with the same digit goes, indexed by digit */
} coll_visit;

/* Writes the ranks of TOPO to ORDER, ROOT first. VISITS is scratch memory, one element per rank. */
void coll_order_chain(const coll_topo *topo, int root, coll_visit visits[], int order[]);

#endif
