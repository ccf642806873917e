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

struct solver {
    const char *name;
    bool (*run)(struct solve *solve, app_problem *problem);
};

/* All solvers; a NULL name ends them. */
extern const struct solver solvers[];

/*
 * Solves from x = 0. False, alike on all ranks, when MPI fails, when the iterations don't suffice
 * or when the system turns out not to be positive definite; solve->residual and x are then as far
 * as it came. Collective over solve->comm.
 */
bool solver_run(const struct solver *solver, struct solve *solve, app_problem *problem);

bool solver_pcg(struct solve *solve, app_problem *problem);
bool solver_chrongear(struct solve *solve, app_problem *problem);
bool solver_pipecg(struct solve *solve, app_problem *problem);

/* What the solvers share: fields, the residual among them, and the convergence test. */
enum { SOLVER_FIELDS = 9 };
struct iteration {
    struct solve *solve;
    struct shape shape;
    double *fields[SOLVER_FIELDS]; /* of zeros at first; the first COUNT that were asked for */
    double *r;                     /* fields[0]: the residual, with its border */
    struct reduction norm;
    double norm_b;
    bool stuck; /* no direction left that has a length */
};

/* Allocates COUNT fields; sets x = 0, r = b. *DONE where that is already the solution. */
bool iteration_begin(struct iteration *it, struct solve *solve, int count, bool *done,
                     app_problem *problem);
void iteration_end(struct iteration *it);

/* Whether the iteration that just ended is one to test after: every TEST_INTERVAL-th and the last.
 */
bool iteration_is_tested(const struct iteration *it);

/*
 * Replaces r by b - A x, overlapping the reduction of its norm and the exchange of its border, and
 * tests whether it is small enough: *DONE.
 */
bool iteration_test(struct iteration *it, bool *done, app_problem *problem);

/*
 * The length of a step, RHO / SIGMA with SIGMA = p A p. Unless SIGMA is positive it is 0 and the
 * iteration is the last: either r vanishes but for rounding, or the system is singular.
 */
double iteration_length(struct iteration *it, double rho, double sigma);

#endif
