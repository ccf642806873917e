/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures latencies for coll-hlot, on the ranks that run it, with the code that the library uses
 * for its own broadcasts.
 */
#ifndef COLL_HLOT_LATENCY_MONITOR_H
#define COLL_HLOT_LATENCY_MONITOR_H

#include "hlot/matrix.h"
#include "hlot/site_state.h"

typedef struct latency_monitor {
    MPI_Comm comm;
    int rank;
    hlot_site_state *site_state;
} latency_monitor;

/*
 * Opens a monitor of COMM, whose sites COLL_TOPOLOGY sets, and measures all pairs of sites.
 * Collective. Errors are those of libcoll, and MPI_ERR_TOPOLOGY, with text, if there is only one
 * site or there are too many.
 */
int latency_monitor_open(latency_monitor *o, MPI_Comm comm);

/* Continues to measure for SECONDS. Collective. */
int latency_monitor_run(latency_monitor *o, double seconds);

/*
 * On rank 0: writes the current latencies to MATRIX, which the caller frees, with the sites' names
 * site0, site1, ... and their hosts. Returns false if memory is short.
 */
bool latency_monitor_read(const latency_monitor *o, hlot_matrix *matrix);

#endif
