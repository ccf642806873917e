/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The load of a call's plans, computed without simulating them: the bytes that cross the links of
 * hosts, racks and sites, and how long ranks and links are busy at least.
 */
#ifndef COLL_LIB_SIM_LINK_LOAD_H
#define COLL_LIB_SIM_LINK_LOAD_H

#include "lib/plan/plan.h"
#include "lib/sim/network.h"

#include <stdint.h>

typedef enum coll_link { COLL_LINK_HOST, COLL_LINK_RACK, COLL_LINK_SITE, COLL_LINKS } coll_link;
enum { COLL_LINK_OUT, COLL_LINK_IN, COLL_LINK_WAYS };

typedef struct coll_traffic {
    double busiest[COLL_LINKS]; /* bytes out of or into the busiest link, whichever is more */
    /* Two lower bounds of the call's time (estimates unless EXACT): the seconds that the busiest
     * link needs, and the seconds that the busiest of the counted ranks needs, for its processor or
     * for its messages on its host's link. */
    double link_seconds, rank_seconds;
    double host_seconds; /* LINK_SECONDS without links of racks and sites */
    double events;       /* estimated events of a simulation of all ranks */
    uint64_t rounds;     /* of the longest plan counted */
    bool exact;          /* all rounds of all plans were counted */
} coll_traffic;

/* Plans of all ranks of a call, made one at a time in the same memory. */
typedef struct coll_link_load {
    const coll_planner *planner;
    const coll_shape *shape;
    const coll_values *values;
    coll_rank_order *line;
    coll_plan_args args;
    coll_blocks even;
    coll_plan_size size; /* of all plans */
    coll_network network;
    void *own;
    coll_step *steps;
    /* bytes out of and into each host, rack and site; at [COLL_LINKS]: ns that each host's link is
     * busy. One piece of memory, which begins at [0][0] */
    double *load[COLL_LINKS + 1][COLL_LINK_WAYS];
} coll_link_load;

/* Prepares LOAD for SHAPE's call in the *LEFT bytes of memory at *SCRATCH, and updates both to what
 * is left. If the shape's topology is a subset of the ranks of WHOLE, the links have the rates of
 * WHOLE; else WHOLE may be NULL. Returns false if the memory is too small. */
bool coll_link_load_open(coll_link_load *load, const coll_algorithm *algorithm,
                         const coll_shape *shape, const coll_values *values, const coll_topo *whole,
                         char **scratch, size_t *left);

/* Returns the load of the first ROUNDS rounds of all plans, extrapolated from a sample of RANKS
 * ranks and about STEPS steps in all, evenly spread. */
coll_traffic coll_link_load_count(coll_link_load *load, uint64_t rounds, int ranks, int64_t steps);

/* Sets *TRAFFIC to the load of all ranks. Counts all rounds or, if that would take longer than a
 * few seconds, a sample of them. Returns MPI_ERR_NO_MEM without memory. */
int coll_traffic_find(const coll_algorithm *algorithm, const coll_shape *shape,
                      const coll_values *values, coll_traffic *traffic);

#endif
