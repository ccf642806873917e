/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rank order, or line: the order in which algorithms arrange the ranks of a call. The line is
 * the chain order from the root, or from rank 0 if there is no root. If operands must be combined
 * in order, the line is the order of rank numbers, whatever the root. A communicator caches the
 * line of its last root.
 *
 * The chain order visits ranks so that every uplink is crossed once in each direction: the root's
 * NUMA domain, then the rest of its node, of its rack, of its site, then the other sites. A domain,
 * node, rack or site is finished before the next one of its kind begins. The numbers of ranks,
 * domains, nodes, racks and sites ascend from the root's own number on, and then from 0 on.
 */
#ifndef COLL_LIB_ALGORITHM_RANK_ORDER_H
#define COLL_LIB_ALGORITHM_RANK_ORDER_H

#include "lib/algorithm/algorithm.h"
#include "lib/base/comm.h"

typedef struct coll_rank_order {
    int next_root; /* the root plus 1; -1: order of rank numbers; 0: there is no line yet */
    int position;  /* this rank's position in the line */
    int order[];   /* the rank at each position */
} coll_rank_order;

/* Returns the first rank of the chain order. */
static inline int coll_rank_order_head(const coll_shape *call) {
    return call->root == COLL_NO_ROOT ? 0 : call->root;
}

extern coll_comm_key coll_rank_order_key;

/* Writes the ranks of CALL to ORDER, in the order of the line. */
void coll_order_ranks(const coll_shape *call, int order[]);

/* Groups of ranks that are contiguous in the line, from small to large. */
typedef enum coll_unit {
    COLL_UNIT_RANK,
    COLL_UNIT_NODE = COLL_LEVEL_NODE,
    COLL_UNIT_RACK = COLL_LEVEL_RACK,
    COLL_UNIT_SITE = COLL_LEVEL_SITE,
    COLL_UNIT_ALL = COLL_LEVEL_WIDE
} coll_unit;

/* Returns whether a UNIT begins at POSITION. Inline: many plans ask for every rank. */
static inline bool coll_rank_order_begins(const coll_rank_order *line, const coll_topo *topo,
                                          int position, coll_unit unit) {
    if (position == 0 || unit == COLL_UNIT_RANK)
        return true;
    const coll_place *before = &topo->places[line->order[position - 1]],
                     *here = &topo->places[line->order[position]];
    return unit == COLL_UNIT_NODE   ? before->node != here->node
           : unit == COLL_UNIT_RACK ? before->rack != here->rack
                                    : unit == COLL_UNIT_SITE && before->site != here->site;
}

/* The smallest and the largest number of UNITs in a WHOLE, and the number of WHOLEs. */
typedef struct coll_extent {
    int fewest, most, wholes;
} coll_extent;
coll_extent coll_rank_order_extent(const coll_rank_order *line, const coll_topo *topo,
                                   coll_unit unit, coll_unit whole);

/* Writes to FIRST the position at which each UNIT begins, and then the number of ranks. Returns the
 * index of the UNIT that has this rank. */
int coll_rank_order_list(const coll_rank_order *line, const coll_topo *topo, coll_unit unit,
                         int first[]);

/* Returns COMM's line for CALL, valid until this function is called for another line. */
const coll_rank_order *coll_rank_order_of(const coll_comm *comm, const coll_shape *call);

#endif
