/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbourhood collectives: allgather and alltoall along the edges of a topology
 * (lib/topology/graph.h). The data is a block for each edge that arrives at a rank; the input is a
 * block for each edge that leaves the rank, or one block for all edges. BLOCK of a step is the
 * index of an edge among the arriving or the leaving edges, not a position.
 */
#ifndef COLL_LIB_NEIGHBOR_NEIGHBOR_H
#define COLL_LIB_NEIGHBOR_NEIGHBOR_H

#include "lib/algorithm/algorithm.h"
#include "lib/topology/graph.h"

extern const coll_algorithm coll_neighbor_linear, coll_neighbor_combined;

/* Returns whether a source has one block for all its edges. */
static inline bool coll_neighbor_shares(const coll_shape *call) {
    return call->operation == COLL_OPERATION_NEIGHBOR_ALLGATHER;
}

/*
 * Returns the seconds that messages of BLOCKS blocks between nodes take: the time of one message,
 * plus the time that the cores and the link of the busiest node need for all messages. LOAD is that
 * node's load, or NULL for one message alone.
 */
static inline double coll_neighbor_seconds(const coll_shape *call, const coll_graph_load *load,
                                           int blocks) {
    const coll_cost *link = coll_profile_outermost(coll_shape_costs(call), call->topo);
    const double block = call->bytes == COLL_BYTES_UNKNOWN ? 0 : (double)call->bytes,
                 bytes = block * blocks, one = coll_cost_message(link, bytes),
                 handling = coll_cost_send_overhead(link, bytes) +
                            coll_cost_arrival_overhead(link, bytes) +
                            coll_cost_receive_overhead(link, bytes);
    if (!load)
        return one;
    return one + handling / 2 * load->remote / coll_topo_busy_cores(call->topo) +
           coll_cost_send_gap(link, block * load->node_blocks) - coll_cost_send_gap(link, 0);
}

#endif
