/*
 * Conjugate gradients for the barotropic system A x = b. Every solver is preconditioned by the
 * diagonal, tests its true residual every TEST_INTERVAL iterations, and does the same work whatever
 * the reductions are; what overlaps them is what the data dependencies allow.
 */
#ifndef COLL_POPCG_SOLVER_H
#define COLL_POPCG_SOLVER_H

#include "cdcp/popcg/global_sum.h"
#include "cdcp/popcg/halo.h"
#include "cdcp/popcg/nine_point.h"

enum { TEST_INTERVAL = 10 };

/* The system as one rank sees it, how to solve it, and how that went. */
struct solve {
    const struct nine_point *matrix;
    struct halo *halo;
    MPI_Comm comm;
    const struct reduction_mode *mode;
    const double *b; /* within the block */
    double *x;       /* the solution, with its border */
    long most_iterations;
    double tolerance; /* of |b - A x| / |b|; 0: do all iterations and don't ask */

    long iterations;
    double residual;                    /* the last true |b - A x| / |b| */
    double seconds;                     /* of this rank in all, */
    double in_reductions, in_exchanges; /* and of these in reductions and in halo exchanges */
};

struct iteration;

/* A kind of conjugate gradients; one of zero fields does without them. */
struct solver {
    const char *name;
    int sums; /* numbers in each of its reductions */
    bool (*step)(struct iteration *it, app_problem *problem); /* an iteration */
    void (*settle)(struct iteration *it);                     /* brings x up to date for a test */
    void (*restart)(struct iteration *it); /* makes what follows from a new r, before a step */
};

/* All solvers; a NULL name ends them. */
extern const struct solver solvers[];

/*
 * Solves from x = 0. False, alike on all ranks, when MPI fails, when the iterations don't suffice
 * or when the system turns out not to be positive definite; solve->residual and x are then as far
 * as it came. Collective over solve->comm.
 */
bool solver_run(const struct solver *solver, struct solve *solve, app_problem *problem);

bool pcg_step(struct iteration *it, app_problem *problem);
void pcg_settle(struct iteration *it);
bool chrongear_step(struct iteration *it, app_problem *problem);
bool pipecg_step(struct iteration *it, app_problem *problem);
void pipecg_restart(struct iteration *it);

/* What the solvers work with. */
enum { SOLVER_FIELDS = 9 };
struct iteration {
    struct solve *solve;
    struct shape shape;
    double *fields[SOLVER_FIELDS]; /* of zeros at first */
    double *r;                     /* fields[0]: the residual, with its border */
    struct reduction norm, sums[2];
    double norm_b;
    double rho, sigma, alpha; /* of the last iteration, before the first 0 */
    bool lags;                /* x lacks alpha p */
    bool stuck;               /* no direction left that has a length */
};

/*
 * The length of a step, RHO / SIGMA with SIGMA = p A p. Unless SIGMA is positive it is 0 and the
 * iteration is the last: either r vanishes but for rounding, or the system is singular.
 */
double iteration_length(struct iteration *it, double rho, double sigma);

#endif
