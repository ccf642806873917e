/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The prover: simulates the plans of all ranks of a call in one process, without MPI, and checks
 * that all ranks end with the right bytes. Messages are matched only as the plans declare.
 */
#ifndef COLL_TESTS_SUPPORT_PROVER_H
#define COLL_TESTS_SUPPORT_PROVER_H

#include "lib/algorithm/operations.h"
#include "lib/plan/plan.h"

/*
 * In an operation with an MPI_Op each element is a byte, and its value is a tree of combinations.
 * In the end the tree must have every rank's contribution once; all ranks of an allreduce must have
 * the same tree; and if the op does not commute, contributions must be in rank order.
 */
typedef struct prover_call {
    const coll_algorithm *algorithm; /* an algorithm that is a plan */
    coll_operation operation;
    coll_shape shape; /* prover_play sets its name and sides */
    coll_values values;
    size_t segment; /* the segments of the plans are cut to this many bytes; 0: they are not */
    int window;     /* the number of these that may be in progress */
    /*
     * Bytes of each rank's block; for an alltoall the bytes from rank i to rank j are at i x ranks
     * + j. NULL: all blocks have the size of the shape.
     */
    const size_t *counts;
    bool eager; /* sends complete at once, otherwise when they are received */
    /*
     * Data from SLOW to STARVED arrives as late as possible. Below 0 means any rank; if both are
     * below 0, no data is late.
     */
    int starved, slow;
    /* Returns a plan to use instead of RANK's; or NULL. */
    const coll_plan *(*alter)(const coll_plan *plan, int rank, void *context);
    void *context;
} prover_call;

typedef struct prover_report {
    char problem[256]; /* "" if all is right */
    int under_way;     /* the most messages with data in flight from one rank to another */
    int senders;       /* the most ranks from which messages with data are in flight to one rank */
    int sending;       /* the most messages with data in flight from one rank */
    uint64_t
        trees; /* a hash of the tree by which each rank's results were combined; 0: several trees */
    size_t into_rack, out_of_rack; /* the most bytes over the uplink of any rack */
} prover_report;

/* Simulates CALL and fills REPORT. Returns false, with a problem, if something is wrong. */
bool prover_play(const prover_call *call, prover_report *report);

#endif
