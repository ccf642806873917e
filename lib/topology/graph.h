/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The edges of a communicator with a Cartesian, graph or distributed graph topology: who sends to
 * whom in a neighbourhood collective. All ranks know all edges, in the same order.
 */
#ifndef COLL_LIB_TOPOLOGY_GRAPH_H
#define COLL_LIB_TOPOLOGY_GRAPH_H

#include "lib/base/comm.h"
#include "lib/topology/topo.h"

#include <stdbool.h>

typedef struct coll_edge {
    int source, destination;
    int out;      /* its block in the source's send buffer */
    int in;       /* its block in the destination's receive buffer */
    int from, to; /* the nodes of source and destination */
} coll_edge;

/* The edges from one node to another, or within a node. */
typedef struct coll_edge_bundle {
    int from, to;
    int first, count; /* the edges from index FIRST on */
    int sources;      /* number of different sources of these edges */
    /* If blocks are combined: the source that sends for all sources, and the destination that
     * receives for all destinations. Each is the rank that does so in the fewest earlier bundles.
     * Not set within a node. */
    int sender, receiver;
} coll_edge_bundle;

/* The maximum of each number over all ranks, or over all nodes. */
typedef struct coll_graph_load {
    int remote;      /* messages of a node to and from other nodes */
    int steps;       /* messages and copies of a rank; plus 1 in COMBINED and SHARED */
    int blocks;      /* of scratch memory */
    int message;     /* blocks of a message between nodes; 0 in LINEAR */
    int node_blocks; /* blocks that leave a node, or arrive at it */
} coll_graph_load;

typedef struct coll_graph {
    int in, out;   /* blocks of this rank's buffers, blocks without an edge included */
    bool isolated; /* some rank has no blocks, and so can't know the size of the others' blocks */
    int nodes, edges, bundles;
    coll_edge *edge; /* sorted by node of the source, node of the destination, source, block */
    coll_edge_bundle *bundle; /* sorted by node of the source, then of the destination */
    int *leaving;             /* the first bundle that leaves each node; at [NODES]: BUNDLES */
    int *arriving; /* indices of bundles, sorted by node of the destination, then of the source */
    int *first_arriving;    /* in ARRIVING: the first bundle of each node; at [NODES]: BUNDLES */
    coll_graph_load linear; /* one message for each edge */
    /* one message for each bundle: COMBINED if each edge has its own block, SHARED if all edges of
     * a source share one block */
    coll_graph_load combined, shared;
} coll_graph;

/* Sets *IN and *OUT to the numbers of blocks of this rank's buffers in neighbourhood collectives on
 * COMM. Local. Errors: MPI_ERR_TOPOLOGY. */
int coll_graph_degrees(MPI_Comm comm, int *in, int *out);

/*
 * Gathers the edges of COMM on all its ranks. TOPO has the places of these ranks. Collective at the
 * first call; does nothing on a communicator without a topology. Returns the same error on all
 * ranks.
 */
int coll_graph_gather(coll_comm *comm, const coll_topo *topo);

/*
 * Sets *GRAPH to the edges of COMM, or to NULL if not all ranks know them: COMM has no topology,
 * the ranks disagree about an edge, or coll_graph_gather was not called. A Cartesian topology
 * doesn't need that call. Local. Errors: MPI_ERR_NO_MEM.
 */
int coll_graph_of(coll_comm *comm, const coll_topo *topo, const coll_graph **graph);

/* The edges' slot in every communicator. */
extern coll_comm_key coll_graph_key;

#endif
