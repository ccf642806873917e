/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the racks and sites of nodes by measuring round trips (lib/topology/tcp_rtt.h). A path
 * through more switches takes a few microseconds longer, a path to another site milliseconds.
 *
 * Only one node measures at a time (lib/topology/findracks.h), so that no measurement disturbs
 * another; all other ranks sleep.
 */
#ifndef COLL_LIB_TOPOLOGY_TOPOLOGY_PROBE_H
#define COLL_LIB_TOPOLOGY_TOPOLOGY_PROBE_H

#include "lib/base/comm.h"
#include "lib/topology/findracks.h"

#include <stddef.h>

/* Time limits, in seconds. */
typedef struct coll_topology_probe_limits {
    double longest; /* no measurement begins later than this */
    double timeout; /* a node that has not answered within this time is silent */
} coll_topology_probe_limits;

typedef enum coll_topology_probe_end {
    COLL_TOPOLOGY_PROBE_DONE,
    COLL_TOPOLOGY_PROBE_LATE,   /* the time ran out: nothing was found */
    COLL_TOPOLOGY_PROBE_SILENT, /* a node got no answer from another: nothing was found */
    /* a node has no free port, no address of its own or no memory: nothing was found */
    COLL_TOPOLOGY_PROBE_UNABLE
} coll_topology_probe_end;

typedef struct coll_topology_probe_report {
    coll_topology_probe_end end;
    /* for COLL_TOPOLOGY_PROBE_SILENT: a node, and the node that did not answer it */
    int missing[2];
    double seconds;         /* duration */
    int pairs;              /* on rank 0: pairs of nodes measured */
    coll_racks_found found; /* on rank 0: the result */
} coll_topology_probe_report;

/* Returns how many bytes of memory a measurement of NODES nodes needs. */
size_t coll_topology_probe_bytes(int nodes);

/*
 * Sets RACKS and SITES of NODES nodes on rank 0, if REPORT->end is COLL_TOPOLOGY_PROBE_DONE.
 * LEADERS[node] is the rank that measures for the node; LEADERS[0] is 0. MEMORY, aligned for
 * integers, has coll_topology_probe_bytes bytes. Collective over COMM. Returns MPI's errors.
 */
int coll_topology_probe(coll_comm *comm, int nodes, const int leaders[],
                        coll_topology_probe_limits limits, void *memory, int racks[], int sites[],
                        coll_topology_probe_report *report);

#endif
