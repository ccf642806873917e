/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures which hosts share a rack where round trips do not show it: all hosts send to each other
 * until slow uplinks tell racks apart (lib/topology/contention.h).
 */
#ifndef COLL_LIB_TOPOLOGY_CONTENTION_PROBE_H
#define COLL_LIB_TOPOLOGY_CONTENTION_PROBE_H

#include "lib/base/comm.h"
#include "lib/topology/topo.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns the bytes of memory that coll_contention_probe needs for NODES nodes. */
size_t coll_contention_probe_bytes(int nodes);

/*
 * Sets *FOUND to whether some hosts share slow uplinks, and then RACKS to the rack of each node of
 * TOPO, COMM's topology, numbered in order of first appearance; the same on all ranks. LATENCY is
 * the approximate time of a message in seconds. Takes some tenths of a second where uplinks are not
 * slow, and up to about six seconds where they are. MEMORY is aligned for doubles. Collective
 * over COMM, on which nothing else is in flight. Errors: those of MPI and timeouts, after which
 * COMM is broken.
 */
int coll_contention_probe(coll_comm *comm, const coll_topo *topo, double latency, void *memory,
                          int racks[], bool *found);

#endif
