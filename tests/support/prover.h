/*
 * The prover: plays the plans of all ranks of a call in one process, without MPI, and checks that
 * everybody ends with the right bytes. Messages are matched as the plans declare, nothing more.
 */
#ifndef COLL_TESTS_SUPPORT_PROVER_H
#define COLL_TESTS_SUPPORT_PROVER_H

#include "lib/algorithm/operations.h"
#include "lib/plan/plan.h"

/*
 * Of an operation with an MPI_Op each element is a byte, and its value is a tree of combinations:
 * in the end everybody's contribution is in it once, all ranks of an allreduce have the same tree,
 * and where the op doesn't commute the contributions stand in the order of the ranks.
 */
typedef struct prover_call {
    const coll_algorithm *algorithm; /* a plan */
    coll_operation operation;
    coll_shape shape; /* its name and sides are set by prover_play */
    coll_values values;
    size_t segment; /* the plans' segments are cut into ones of so many bytes; 0: they aren't */
    int window;     /* of which so many are under way */
    /* Bytes of each rank's block; of an alltoall those from rank i to rank j at i x ranks + j.
     * NULL: all have the shape's. */
    const size_t *counts;
    bool eager; /* sends are complete at once, else when they are received */
    /* Data to STARVED from SLOW comes as late as can be; below 0: to or from all; both: none does.
     */
    int starved, slow;
    /* May put another plan into the place of RANK's; or NULL. */
    const coll_plan *(*alter)(const coll_plan *plan, int rank, void *context);
    void *context;
} prover_call;

typedef struct prover_report {
    char problem[256]; /* "" where all is right */
    int under_way;     /* the most messages with data from one rank to another at a time */
    int senders;       /* the most ranks from which such messages are under way to one rank */
    int sending;       /* and from one rank to all */
    uint64_t trees;    /* by which each rank's results were combined: a hash; 0: by several */
    size_t into_rack, out_of_rack; /* the most bytes of any rack's uplink */
} prover_report;

/* Plays CALL; what it finds goes to REPORT. False, with a problem, where something is wrong. */
bool prover_play(const prover_call *call, prover_report *report);

#endif
