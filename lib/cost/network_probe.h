/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the rates of hosts' links and of racks' uplinks by a few messages: one rank of each host
 * sends to a rank of another host, all at the same time. Also measures how much longer small
 * messages take then. The measurement takes some tenths of a second.
 */
#ifndef COLL_LIB_COST_NETWORK_PROBE_H
#define COLL_LIB_COST_NETWORK_PROBE_H

#include "lib/base/comm.h"
#include "lib/topology/topo.h"

/* Rates in bytes/s, and a time in seconds; the same on all ranks. */
typedef struct coll_network_rates {
    double link;     /* of a host's link while all hosts send */
    double together; /* of all racks' uplinks together; 0 with one rack */
    double per_rank; /* how much longer a small message takes for each host beyond two that
                        communicates at the same time; 0: hardly any longer, or less than four hosts
                      */
} coll_network_rates;

/*
 * Measures RATES between the hosts of TOPO, COMM's topology: at least two hosts. LATENCY is the
 * approximate time of a message in seconds, which tells for how long TCP may be slow at first.
 * Collective over COMM, on which nothing else is in flight. Errors: MPI_ERR_NO_MEM; and errors of
 * MPI and timeouts, after which COMM is broken.
 */
int coll_network_probe(coll_comm *comm, const coll_topo *topo, double latency,
                       coll_network_rates *rates);

#endif
