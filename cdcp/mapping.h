/*
 * Which ranks of a job become dedicated collective processors (DCPs), and which ranks each of them
 * serves. Pure arithmetic, no communication. Source: paper "CDCP", section IV and figure 4.
 */
#ifndef COLL_CDCP_MAPPING_H
#define COLL_CDCP_MAPPING_H

/*
 * How many DCPs the user wants: "1:4" is the paper's ratio, one DCP to four application ranks, of
 * the ranks that there are (its second mode: 640 ranks are then 512 + 128); "8" is that many.
 */
typedef struct coll_mapping_wish {
    int served; /* application ranks to a DCP, or 0 where a number of DCPs is given */
    int dcps;   /* that number, or 0 */
} coll_mapping_wish;

/* Reads TEXT. MPI_ERR_ARG, whose text says what is wrong, unless all of it is a wish. */
int coll_mapping_parse(const char *text, coll_mapping_wish *wish);

typedef struct coll_mapping {
    int ranks, dcps, applications; /* ranks = dcps + applications */
    int *dcp_of;                   /* of a rank: the rank of its DCP; -1 for a DCP */
} coll_mapping;

/*
 * Maps RANKS ranks, rank i on node node_of[i] (numbered from 0 in order of first appearance). A
 * ratio of 1:r takes the fewest DCPs that serve all with at most r ranks to each, on average. DCPs
 * are spread over the nodes in proportion to their ranks, and are each node's last ranks; rank 0
 * always runs the application. A rank is served on its own node where there is a DCP, all the
 * node's alike; otherwise by the nearest node (in the nodes' order) whose DCPs have less than their
 * share, runs of consecutive ranks by one DCP.
 *
 * MPI_ERR_ARG where there are not enough ranks, or MPI_ERR_NO_MEM; MAPPING is set only on success,
 * and then goes to coll_mapping_free.
 */
int coll_mapping_make(const coll_mapping_wish *wish, int ranks, const int node_of[],
                      coll_mapping *mapping);
void coll_mapping_free(coll_mapping *mapping);

#endif
