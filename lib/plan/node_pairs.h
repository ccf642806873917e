/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Determines which ranks exchange the messages between nodes if every rank has data for every other
 * rank: all ranks of a node exchange with other nodes at the same time. No communication.
 *
 * Nodes are numbered along the line. A node exchanges one message with each other node. If every
 * node has several ranks for each other node, each message is divided by destination into PARTS
 * parts, which count as messages. A node numbers its messages cyclically, beginning with those for
 * the next node on the line. Its ranks exchange runs of these messages, of nearly equal length.
 * The same two ranks exchange a message in both directions. Nodes may have any number of ranks.
 */
#ifndef COLL_LIB_PLAN_NODE_PAIRS_H
#define COLL_LIB_PLAN_NODE_PAIRS_H

#include "lib/plan/multi_leader.h"

/* What all ranks know about the nodes. */
typedef struct coll_node_pairs_extent {
    int nodes, most; /* the most ranks of a node */
    int parts;
    size_t bytes; /* of the memory for coll_node_pairs_open */
} coll_node_pairs_extent;

coll_node_pairs_extent coll_node_pairs_measure(const coll_plan_args *args);

/* Return the most messages of a rank on a node of RANKS ranks, and the most ranks of other nodes to
 * which it forwards data. */
int coll_node_pairs_messages(const coll_node_pairs_extent *all, int ranks);
int coll_node_pairs_forwards(const coll_node_pairs_extent *all, int ranks);

/* The nodes as one rank sees them. */
typedef struct coll_node_pairs {
    const int *order; /* the line */
    const int *first; /* the position at which each node begins, and the end of the last one */
    int nodes, node;  /* number of nodes, and this rank's node */
    int ranks, place; /* number of ranks of this node, and this rank's place among them */
    int parts;
} coll_node_pairs;

/* Returns the nodes of ARGS as this rank sees them. MEMORY has the extent's bytes. */
coll_node_pairs coll_node_pairs_open(const coll_plan_args *args, void *memory);

/* A message of this node. */
typedef struct coll_node_pair {
    int rank;            /* the rank with which the message is exchanged */
    int other, part;     /* the other node, and the part of the message */
    coll_run node;       /* the positions of the other node */
    coll_run to, for_us; /* the positions for which data is sent, and received */
} coll_node_pair;

/* Return the numbers of the messages of the rank at PLACE of this node, and message NUMBER. */
coll_run coll_node_pairs_of(const coll_node_pairs *pairs, int place);
coll_node_pair coll_node_pairs_at(const coll_node_pairs *pairs, int number);

/*
 * Return the positions to which the rank at PLACE of this node forwards data, and the positions
 * whose data it delivers to the rank at TO of this node. A run that reaches the end of the line
 * continues at position 0.
 */
coll_run coll_node_pairs_forwarded(const coll_node_pairs *pairs, int place);
coll_run coll_node_pairs_delivered(const coll_node_pairs *pairs, int place, int to);

/* Returns the place NTH places behind this rank's, cyclically; before it if NTH is negative. */
static inline int coll_node_pairs_beside(const coll_node_pairs *pairs, int nth) {
    return (pairs->place + nth + pairs->ranks) % pairs->ranks;
}

/* Returns the position of the rank at PLACE of this node. */
static inline int coll_node_pairs_position(const coll_node_pairs *pairs, int place) {
    return pairs->first[pairs->node] + place;
}

/* Returns whether RUN has POSITION. */
static inline bool coll_run_has(coll_run run, int position) {
    return position >= run.first && position < run.first + run.count;
}

#endif
