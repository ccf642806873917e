/*
 * Sums over all ranks, started and finished apart so that work in between may overlap them.
 *
 * MPI may add in any order, and every way of reducing has its own: to make them comparable bit for
 * bit, each rank first rounds its part to a common quantum, and once more what is left over. Sums
 * of such numbers are exact, hence the same in any order (pre-rounding, after Demmel and Nguyen,
 * Fast Reproducible Floating-Point Summation, 2013). The quantum follows the last sum; where a part
 * is too large for it, all ranks see an infinity, where the sum is too small, a small sum: they
 * then agree on the largest part, and sum again.
 */
#ifndef COLL_CDCP_POPCG_GLOBAL_SUM_H
#define COLL_CDCP_POPCG_GLOBAL_SUM_H

#include "app/problem.h"

#include <coll.h>
#include <stdbool.h>

enum { REDUCTION_MOST = 2 };

struct reduction;

/* How it is carried out: "blocking", "nbc" or "dcp". */
struct reduction_mode {
    const char *name;
    int (*start)(struct reduction *reduction);
    int (*finish)(struct reduction *reduction);
};

/* All modes; a NULL name ends them. */
extern const struct reduction_mode reduction_modes[];

/* A kind of sum that is formed again and again, of COUNT numbers at once. */
struct reduction {
    const struct reduction_mode *mode;
    MPI_Comm comm;
    int count;
    int bits;                     /* of a part that one number carries: few enough to add exactly */
    double part[REDUCTION_MOST];  /* this rank's */
    double scale[REDUCTION_MOST]; /* powers of two above all parts */
    double sent[2 * REDUCTION_MOST], received[2 * REDUCTION_MOST];
    MPI_Request request;
    DCP_Request pending;
    double *seconds; /* the time spent in reductions is added here */
};

void reduction_init(struct reduction *reduction, const struct reduction_mode *mode, int count,
                    MPI_Comm comm, double *seconds);

/* Starts to sum PARTS, COUNT of them, over the ranks. Collective. */
bool reduction_start(struct reduction *reduction, const double parts[], app_problem *problem);

/* Waits for the sums, the same bits on all ranks; NaN where some part was not finite. */
bool reduction_finish(struct reduction *reduction, double sums[], app_problem *problem);

#endif
