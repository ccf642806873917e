/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rank arithmetic of the multi_leader algorithms, in which all ranks of a node exchange with
 * other nodes at the same time. No communication.
 *
 * Nodes are numbered along the line. All nodes are cut into up to RADIX runs of nearly equal
 * length, and each run again, until all runs are single nodes. The cuts are undone from the
 * innermost outwards: at each cut, a node receives from one node of each other run the
 * contributions of that run. So before and after each cut it has the contributions of a whole run.
 * Within a node the ranks are cut in the same way, into two runs each time. The turns of a rank are
 *
 * 1. COLL_LEADERS_GATHER: for each cut of the node, an exchange with the other run of the node;
 * 2. for each cut of the nodes: COLL_LEADERS_EXCHANGE, in which the node's ranks divide the
 *    messages to and from other nodes among themselves; then COLL_LEADERS_SPREAD, for each cut of
 *    the node, an exchange of what its ranks have received.
 *
 * In an exchange a node receives one message from each other run, and sends one to each; if run
 * lengths differ by one, it sends between none and two messages to a run. The node's ranks divide
 * these messages evenly. Nodes may have any number of ranks.
 *
 * Source: Bienz, Olson, Gropp: Node-aware improvements to allreduce, ExaMPI 2019, with as many runs
 * as a node has ranks; Ruefenacht, Bull, Booth: Generalisation of recursive doubling for AllReduce,
 * 2017, for one rank on each node.
 */
#ifndef COLL_LIB_PLAN_MULTI_LEADER_H
#define COLL_LIB_PLAN_MULTI_LEADER_H

#include "lib/plan/plan.h"

enum { COLL_LEADERS_RADIX = 64 }; /* the highest radix */

/* The parameter of all multi_leader algorithms. */
#define COLL_PARAM_LEADERS(index)                                                                  \
    [index] = {                                                                                    \
        "radix", "nodes that a round joins; below 2: by the cost model", 0, 0, COLL_LEADERS_RADIX, \
        NULL}

/* What all ranks know about the nodes. */
typedef struct coll_leaders_extent {
    int nodes, fewest, most; /* ranks of a node: the fewest and the most */
    int radix;
    int cuts, node_cuts; /* the most cuts until a node is alone, and until a rank is alone in its
                            node */
    int sends, receives; /* the most messages of a rank in a turn */
    size_t bytes;        /* of the memory for coll_leaders_open */
} coll_leaders_extent;

/* Returns what all ranks know about the nodes of ARGS, for radix ASKED. If ASKED is below 2, the
 * cost model chooses the radix. */
coll_leaders_extent coll_leaders_measure(const coll_plan_args *args, uint64_t asked);

/* The nodes as one rank sees them. */
typedef struct coll_leaders {
    const int *order; /* the line */
    const int *first; /* the position at which each node begins, and the end of the last one */
    int nodes, node;  /* number of nodes, and this rank's node */
    int ranks, place; /* number of ranks of this node, and this rank's place among them */
    int radix;
    int cuts, node_cuts; /* the cuts until this node is alone, and until this rank is alone in its
                            node */
} coll_leaders;

/* Returns the nodes of ARGS as this rank sees them, for radix ASKED. If ASKED is below 2, the cost
 * model chooses the radix. MEMORY has the extent's bytes. */
coll_leaders coll_leaders_open(const coll_plan_args *args, uint64_t asked, void *memory);

/* A run of nodes, of ranks of a node, or of positions. */
typedef struct coll_run {
    int first, count;
} coll_run;

/* WHOLE is cut into PARTS runs; this rank, or its node, is in run OWN. */
typedef struct coll_cut {
    coll_run whole;
    int parts, own;
} coll_cut;

/* Returns run I of CUT. */
coll_run coll_cut_run(const coll_cut *cut, int i);

/* COUNT members are cut into up to RADIX runs, and each run again. The first function returns the
 * number of cuts until MEMBER is alone; the second returns the cut at DEPTH (0: the outermost) of
 * the run that contains MEMBER. */
int coll_cut_depth(int count, int radix, int member);
coll_cut coll_cut_at(int count, int radix, int member, int depth);

typedef enum coll_leaders_kind {
    COLL_LEADERS_GATHER,
    COLL_LEADERS_EXCHANGE,
    COLL_LEADERS_SPREAD
} coll_leaders_kind;

/* What a rank sends and receives in a turn. */
typedef struct coll_leaders_turn {
    coll_leaders_kind kind;
    coll_cut cut; /* of nodes in an exchange, else of the ranks of this node */
    /* the cut of the latest exchange; in a gather, the same as CUT */
    coll_cut exchange;
    bool is_last; /* last turn of EXCHANGE: after this turn the rank has the data of all runs of
                     EXCHANGE */
    int sends, to[2 * COLL_LEADERS_RADIX];
    int receives, from[COLL_LEADERS_RADIX];
    int run[COLL_LEADERS_RADIX]; /* the run of the cut that each rank of FROM is in */
} coll_leaders_turn;

/* Returns the number of turns. */
int coll_leaders_turns(const coll_leaders *leaders);

/* Sets TURN to turn NUMBER. In a spread, a rank that has nothing to send, or nothing to receive,
 * has no message of that kind. */
void coll_leaders_turn_at(const coll_leaders *leaders, int number, coll_leaders_turn *turn);

/*
 * The other runs of a cut are numbered cyclically, beginning with the run behind a rank's own run.
 * So messages go to different nodes at the same time, even if all nodes send in the order of the
 * numbers. The first function returns the number that run OWN gives to run I; the second returns
 * the run to which this rank's own run gives number NTH.
 */
static inline int coll_cut_number_of_run(const coll_cut *cut, int own, int i) {
    return (i - own - 1 + cut->parts) % cut->parts;
}

static inline int coll_cut_run_of_number(const coll_cut *cut, int nth) {
    return (cut->own + 1 + nth) % cut->parts;
}

/*
 * Returns the numbers of the other runs of nodes whose messages the ranks in run I of TURN's cut
 * have received in the latest exchange. TURN is a spread.
 */
coll_run coll_leaders_received(const coll_leaders *leaders, const coll_leaders_turn *turn, int i);

/* A plan with a round for each turn. */
typedef struct coll_leaders_plan {
    coll_plan base;
    coll_leaders leaders;
} coll_leaders_plan;

/*
 * Returns the size of a coll_leaders_plan whose rounds need SEGMENT bytes of scratch memory. The
 * data to be sent, and each message received, take up to COPIES additional steps; a round has at
 * most MOST additional steps. The radix is the first parameter.
 */
coll_plan_size coll_leaders_plan_size(const coll_plan_args *args, int copies, int most,
                                      size_t segment);

/* Makes a coll_leaders_plan in MEMORY; ROUND writes its rounds. */
coll_plan *coll_leaders_plan_make(const coll_plan_args *args, coll_plan_size size, void *memory,
                                  coll_round *round);

/* Returns whether CALL has several nodes, all in one site: the runs of nodes ignore sites. */
bool coll_leaders_apply(const coll_shape *call);

#endif
