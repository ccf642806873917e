/*
 * The line in which the ranks of a call stand: chain order from its root (lib/pattern/order.h), or
 * from rank 0 where it has none; the order of the ranks, whatever the root, where an MPI_Op doesn't
 * commute. A communicator keeps the line of its last root.
 */
#ifndef COLL_LIB_ALGORITHM_LINE_H
#define COLL_LIB_ALGORITHM_LINE_H

#include "lib/algorithm/algorithm.h"
#include "lib/base/comm.h"
#include "lib/pattern/order.h"

typedef struct coll_line {
    int next_root; /* the root plus 1; -1: by rank; 0: there is no line yet */
    int position;  /* this rank's place in it */
    int order[];   /* all ranks */
} coll_line;

/* Who stands first. */
static inline int coll_line_head(const coll_shape *call) {
    return call->root == COLL_NO_ROOT ? 0 : call->root;
}

extern coll_comm_key coll_line_key;

/* Writes the ranks of CALL into ORDER. VISITS is scratch, one for every rank. */
void coll_order_line(const coll_shape *call, coll_visit visits[], int order[]);

/* What stands together in the line, from inside. */
typedef enum coll_unit {
    COLL_UNIT_RANK,
    COLL_UNIT_NODE = COLL_LEVEL_NODE,
    COLL_UNIT_RACK = COLL_LEVEL_RACK,
    COLL_UNIT_SITE = COLL_LEVEL_SITE,
    COLL_UNIT_ALL = COLL_LEVEL_WIDE
} coll_unit;

/* Whether another UNIT begins at POSITION. */
bool coll_line_begins(const coll_line *line, const coll_topo *topo, int position, coll_unit unit);

/* How many UNITs a WHOLE has: the fewest, and the most. */
typedef struct coll_extent {
    int fewest, most;
} coll_extent;
coll_extent coll_line_extent(const coll_line *line, const coll_topo *topo, coll_unit unit,
                             coll_unit whole);

const coll_line *coll_line_of(const coll_comm *comm, const coll_shape *call);

#endif
