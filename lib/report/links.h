/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the link of a host, or the uplink of a rack, that is slower or loses more packets than the
 * others, from what TCP has counted between each pair of hosts. Names a link only if this link
 * alone explains all that stands out. Pure.
 */
#ifndef COLL_LIB_REPORT_LINKS_H
#define COLL_LIB_REPORT_LINKS_H

#include <stdbool.h>

/* What one host has sent to another. */
typedef struct coll_flow {
    int from, to;        /* hosts */
    double bytes, busy;  /* busy: s in which some bytes were unacknowledged */
    double sent, resent; /* segments with data */
} coll_flow;

typedef enum coll_link_problem {
    COLL_LINK_GOOD,
    COLL_LINK_LOSES,
    COLL_LINK_SLOW
} coll_link_problem;

typedef struct coll_link {
    coll_link_problem problem;
    bool uplink;         /* of a rack */
    int host;            /* the host whose link it is, or the first host of the rack */
    double value, usual; /* segments sent again, as a fraction; or bytes/s */
    double seconds;      /* the most that one of its flows would have saved at the usual rate */
} coll_link;

/*
 * Returns the link that explains what stands out in the COUNT FLOWS. There are HOSTS hosts, and at
 * most one flow from each host to each other host. RACK_OF has the rack of each host, from 0; NULL:
 * unknown. The result has COLL_LINK_GOOD if there is no such link, or if out of memory.
 */
coll_link coll_links_find(int count, const coll_flow flows[], int hosts, const int rack_of[]);

#endif
