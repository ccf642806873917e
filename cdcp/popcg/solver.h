/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conjugate gradients for the barotropic system A x = b. Every solver uses the diagonal as
 * preconditioner and tests its true residual every TEST_INTERVAL iterations. A solver does the same
 * work with any kind of reduction; the data dependencies determine what overlaps the reductions.
 */
#ifndef COLL_POPCG_SOLVER_H
#define COLL_POPCG_SOLVER_H

#include "cdcp/popcg/global_sum.h"
#include "cdcp/popcg/halo.h"
#include "cdcp/popcg/nine_point.h"

enum { TEST_INTERVAL = 10 };

/* The system on one rank, how to solve it, and the outcome. */
struct solve {
    const struct nine_point *matrix;
    struct halo *halo;
    MPI_Comm comm;
    const struct reduction_mode *mode;
    const double *b; /* within the block */
    double *x;       /* the solution, with its border */
    long most_iterations;
    /* limit of |b - A x| / |b|; 0: do all iterations without a test of the limit */
    double tolerance;

    long iterations;
    double residual;                    /* the true |b - A x| / |b| at the last test */
    double seconds;                     /* s: total time of this rank */
    double in_reductions, in_exchanges; /* s: parts of SECONDS */
};

struct iteration;

/* A variant of conjugate gradients. Functions that are NULL are not needed. */
struct solver {
    const char *name;
    int sums; /* numbers in each of its reductions */
    bool (*step)(struct iteration *it, app_problem *problem); /* does an iteration */
    void (*settle)(struct iteration *it);                     /* updates x before a test */
    /* computes the fields that depend on r, after r was replaced */
    void (*restart)(struct iteration *it);
};

/* All solvers; a NULL name ends them. */
extern const struct solver solvers[];

/*
 * Solves the system, starting from x = 0. Returns false if MPI fails and, on all ranks, if a rank
 * has too little memory, the iterations are not enough, or the system turns out not to be positive
 * definite. In the last two cases solve->residual and x have the values reached so far. Collective
 * over solve->comm.
 */
bool solver_run(const struct solver *solver, struct solve *solve, app_problem *problem);

bool pcg_step(struct iteration *it, app_problem *problem);
void pcg_settle(struct iteration *it);
bool chrongear_step(struct iteration *it, app_problem *problem);
bool pipecg_step(struct iteration *it, app_problem *problem);
void pipecg_restart(struct iteration *it);

/* Working data of the solvers. */
enum { SOLVER_FIELDS = 9 };
struct iteration {
    struct solve *solve;
    struct shape shape;
    double *fields[SOLVER_FIELDS]; /* zero at first */
    double *r;                     /* fields[0]: the residual, with its border */
    struct reduction norm, sums[2];
    double norm_b;
    double rho, sigma, alpha; /* of the last iteration; 0 before the first */
    bool lags;                /* alpha p is still to be added to x */
    bool stuck;               /* p A p of the last iteration was not positive */
};

/*
 * Returns the length of a step, RHO / SIGMA with SIGMA = p A p. If SIGMA is not positive, returns
 * 0, and this is the last iteration: either r is zero except for rounding, or the system is
 * singular.
 */
double iteration_length(struct iteration *it, double rho, double sigma);

#endif
