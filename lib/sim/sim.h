/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Discrete-event simulation of a call: executes the plans of all ranks in one process, each through
 * a cursor, with the costs of a profile, and computes when the last rank ends. It does not use MPI,
 * and gives the same result on every rank. The model is that of Tam and Wang (section 3.2),
 * extended by ranks that wait for each other:
 *
 * - A rank's processor is busy for Os with a send, and for Or + Ur with a receive, plus the wake-up
 *   time if it was idle. The processor works first come, first served.
 * - The message then passes the links of network.h, one after the other, and takes L.
 * - A message of at least the eager limit is long; its send is complete when the message has been
 *   received. Any other send is complete when the sender's processor has finished. Between
 *   hosts, a request to the receiver and its answer cross the network before the data of a long
 *   message, unless its measured transfer time includes them.
 */
#ifndef COLL_LIB_SIM_SIM_H
#define COLL_LIB_SIM_SIM_H

#include "lib/plan/plan.h"

typedef struct coll_sim_call {
    const coll_algorithm *algorithm;
    const coll_planner *planner; /* the algorithm's with these values */
    const coll_shape *shape;     /* BYTES is the size of the data, or of each of its blocks */
    const coll_values *values;
    /* The topology of all ranks, which share the links, if the shape has only a subset of the
     * ranks; else it may be NULL. */
    const coll_topo *whole;
    int budget;      /* most events */
    int64_t enough;  /* the simulation stops at this time (ns); 0: never */
    uint64_t rounds; /* simulates only the first ROUNDS rounds of each plan; 0: all */
    int messages;    /* most messages under way, and most channels (from one rank to another on one
                        lane); 0: 262144 */
    void *memory;    /* scratch memory, aligned for any type; NULL: it is allocated */
    size_t bytes;    /* of MEMORY */
    /* Called for each message when its receive is complete; or NULL. */
    void (*watch)(const COLL_Message *message, void *context);
    void *context;
    const int64_t *starts; /* when each rank starts, ns, at least 0; NULL: at 0 */
    int64_t *ends;         /* output: when each rank ends, ns; or NULL */
    double *fill; /* raised to the largest share of a switch's buffer that messages filled without a
                     loss; or NULL. With buffers of at least this share of their size, the
                     simulation would give the same result */
} coll_sim_call;

/* Returns the arguments for the plan of the rank at LINE->position. The data, or each of its
 * blocks, has the shape's bytes. Sets *EVEN to blocks of that size, to which the result points. */
coll_plan_args coll_sim_plan_args(const coll_shape *shape, const coll_values *values,
                                  const coll_rank_order *line, bool is_root, coll_blocks *even);

enum { COLL_SIM_UNKNOWN = -1 };

/*
 * Simulates CALL, and sets *TIME to when the last rank ends, in ns, or to `enough` if that is
 * earlier; to COLL_SIM_UNKNOWN if CALL's budget, messages or memory do not suffice, or if a rank
 * waits for a round that is not simulated. Returns MPI_ERR_NO_MEM if memory can't be allocated, and
 * MPI_ERR_INTERN if the plans would wait for ever.
 */
int coll_simulate(const coll_sim_call *call, int64_t *time);

#endif
