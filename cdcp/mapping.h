/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which ranks of a job become dedicated collective processors (DCPs), and which ranks each of them
 * serves. Pure arithmetic, no communication.
 * Source: Sancho, Kerbyson and Barker, section IV and figure 4.
 */
#ifndef COLL_CDCP_MAPPING_H
#define COLL_CDCP_MAPPING_H

/*
 * The number of DCPs that the user wants. "1:4" is the paper's ratio: one DCP for four application
 * ranks, taken from the existing ranks (the paper's second mode: 640 ranks become 512 + 128). "8"
 * is the number of DCPs.
 */
typedef struct coll_mapping_wish {
    int served; /* application ranks per DCP, or 0 if DCPS is given */
    int dcps;   /* the number of DCPs, or 0 if SERVED is given */
} coll_mapping_wish;

/* Parses TEXT. Returns MPI_SUCCESS, or MPI_ERR_ARG with a text if TEXT is invalid. */
int coll_mapping_parse(const char *text, coll_mapping_wish *wish);

typedef struct coll_mapping {
    int ranks, dcps, applications; /* ranks = dcps + applications */
    int *dcp_of;                   /* for each rank, the rank of its DCP; -1 for a DCP */
} coll_mapping;

/*
 * Maps RANKS ranks, where rank i is on node node_of[i] (numbered from 0 in the order of first
 * appearance). A ratio of 1:r takes the fewest DCPs with at most r ranks each, on average. The
 * number of DCPs on a node is in proportion to the node's ranks, and DCPs are the last ranks of
 * their nodes. Rank 0 always runs the application. If a node has DCPs, these serve the node's other
 * ranks, in equal shares. Otherwise each of the node's ranks in turn is assigned to the first DCP
 * with room on the nearest node that has such a DCP. A DCP has room while it serves fewer ranks
 * than the mean, rounded up. Distance is counted in the order of nodes; of two nodes at the same
 * distance, the lower is taken.
 *
 * Returns MPI_ERR_ARG if there are not enough ranks, or MPI_ERR_NO_MEM. MAPPING is set only on
 * success; then coll_mapping_free must free it.
 */
int coll_mapping_make(const coll_mapping_wish *wish, int ranks, const int node_of[],
                      coll_mapping *mapping);
void coll_mapping_free(coll_mapping *mapping);

#endif
