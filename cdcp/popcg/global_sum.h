/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over all ranks, with separate start and finish, so that other work may overlap them.
 *
 * MPI may add in any order, and each algorithm has its own order. To get the same bits from all
 * algorithms, each rank first rounds its part to a common quantum, and then the remainder to a
 * finer quantum. Sums of such numbers are exact, and so the same in any order (pre-rounding, after
 * Demmel and Nguyen, Fast Reproducible Floating-Point Summation, 2013). The quantum is derived from
 * the last sum. If a part is too large for it, all ranks get an infinity; if the sum is too small
 * for it, all ranks see that in the sum. In both cases all ranks agree on the largest part and sum
 * again.
 */
#ifndef COLL_CDCP_POPCG_GLOBAL_SUM_H
#define COLL_CDCP_POPCG_GLOBAL_SUM_H

#include "app/problem.h"

#include <coll.h>
#include <stdbool.h>

enum { REDUCTION_MOST = 2 };

struct reduction;

/* How a sum is carried out: "blocking", "nbc" or "dcp". */
struct reduction_mode {
    const char *name;
    int (*start)(struct reduction *reduction);
    int (*finish)(struct reduction *reduction);
};

/* All modes; a NULL name ends them. */
extern const struct reduction_mode reduction_modes[];

/* COUNT sums over the ranks, which are computed together, and repeatedly. */
struct reduction {
    const struct reduction_mode *mode;
    MPI_Comm comm;
    int count;
    /* bits of a part in one number: few enough that sums of such numbers are exact */
    int bits;
    double part[REDUCTION_MOST];  /* this rank's parts */
    double scale[REDUCTION_MOST]; /* powers of two above the expected parts; 0: no sum yet */
    double sent[2 * REDUCTION_MOST], received[2 * REDUCTION_MOST];
    MPI_Request request;
    DCP_Request pending;
    double *seconds; /* the time of reductions is added here */
};

void reduction_init(struct reduction *reduction, const struct reduction_mode *mode, int count,
                    MPI_Comm comm, double *seconds);

/* Starts to sum COUNT PARTS over the ranks. Collective. */
bool reduction_start(struct reduction *reduction, const double parts[], app_problem *problem);

/* Waits for the sums, which have the same bits on all ranks; NaN if some part was not finite. */
bool reduction_finish(struct reduction *reduction, double sums[], app_problem *problem);

#endif
