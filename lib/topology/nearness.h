/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides the round trips that one node has measured at about the same time into near ones (same
 * rack) and far ones (other racks). Pure.
 *
 * Only times of one row are compared. Apart from the network, a round trip depends on the node that
 * measures and on the other load of its processor, equally for the whole row. Any disturbance makes
 * a round trip longer, never shorter, so the near round trips are those below the first gap in the
 * sorted times.
 */
#ifndef COLL_LIB_TOPOLOGY_NEARNESS_H
#define COLL_LIB_TOPOLOGY_NEARNESS_H

/* From near to far. */
typedef enum coll_nearness {
    COLL_NEAR, /* in the same rack */
    /* in another rack of the site. In even and unclear rows all nodes of the site count as far */
    COLL_FAR,
    COLL_AWAY /* at another site */
} coll_nearness;

typedef enum coll_row_kind {
    COLL_ROW_CLEAR,  /* there are near and far nodes */
    COLL_ROW_EVEN,   /* times within the site hardly differ */
    COLL_ROW_UNCLEAR /* times within the site differ, but without a gap */
} coll_row_kind;

typedef struct coll_row_split {
    coll_row_kind kind;
    double near, far; /* s: medians; FAR only in a clear row, NEAR in a clear or even one */
    double gap;       /* in a clear row: the smallest far time divided by the largest near one */
} coll_row_split;

/*
 * Divides COUNT round trips, in SECONDS, and sets the NEARNESS of each. FASTEST is the shortest
 * time between any two nodes, by which other sites are recognized. SORTED is scratch memory for
 * COUNT times.
 */
coll_row_split coll_nearness_find(int count, const double seconds[], double fastest,
                                  double sorted[], coll_nearness nearness[]);

#endif
