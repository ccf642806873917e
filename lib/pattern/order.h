/*
 * The order in which a chain visits ranks so that every uplink is crossed once in each direction:
 * the root's NUMA domain, the rest of its node, of its rack, of its site, then the other sites; at
 * every level what is entered is finished before the next begins. Ranks, nodes, racks and sites
 * come in ascending order from the root's on, and around from 0. No communication.
 */
#ifndef COLL_LIB_PATTERN_ORDER_H
#define COLL_LIB_PATTERN_ORDER_H

#include "lib/place/topo.h"

/* Scratch for a rank. */
typedef struct coll_visit {
    int rank;
    int next; /* where the next rank of a site, or of another part, comes: by number */
} coll_visit;

/* Writes the ranks of TOPO into ORDER, ROOT first. VISITS is scratch, one for every rank. */
void coll_order_chain(const coll_topo *topo, int root, coll_visit visits[], int order[]);

#endif
