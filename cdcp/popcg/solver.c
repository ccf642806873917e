/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/popcg/solver.h"

#include "app/agreement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct solver solvers[] = {
    /*
     * Reductions of an iteration: pcg has two, which little work overlaps; chrongear has one;
     * pipecg has one, which the exchange and the operator overlap.
     */
    {"pcg", .sums = 1, .step = pcg_step, .settle = pcg_settle},
    {"chrongear", .sums = 2, .step = chrongear_step},
    {"pipecg", .sums = 2, .step = pipecg_step, .restart = pipecg_restart},
    {NULL},
};

/*
 * Sets r = b - A x, with its border. The reduction of its norm overlaps the exchange of the border.
 */
static bool find_residual(struct iteration *it, double *norm, app_problem *problem) {
    struct solve *solve = it->solve;
    double part, sum;
    nine_point_apply(solve->matrix, it->r, solve->x);
    field_combine(it->shape, it->r, 1, solve->b, -1);
    part = field_dot(it->shape, it->r, it->r);
    if (!reduction_start(&it->norm, &part, problem) ||
        !halo_exchange(solve->halo, it->r, problem) || !reduction_finish(&it->norm, &sum, problem))
        return false;
    *norm = sqrt(sum);
    return true;
}

/* Allocates the fields, and sets x = 0 and r = b. Sets *DONE to whether x = 0 is already the
 * solution (the norm of b is 0). */
static bool begin_solution(struct iteration *it, int sums, bool *done, app_problem *problem) {
    struct solve *solve = it->solve;
    for (int i = 0; i < SOLVER_FIELDS; i++)
        if (!(it->fields[i] = field_new(it->shape)))
            app_refuse(problem, "out of memory");
    if (!app_agree(problem, solve->comm))
        return false;
    it->r = it->fields[0];
    memset(solve->x, 0, field_cells(it->shape) * sizeof *solve->x);
    solve->iterations = 0;
    reduction_init(&it->norm, solve->mode, 1, solve->comm, &solve->in_reductions);
    for (int i = 0; i < 2; i++)
        reduction_init(&it->sums[i], solve->mode, sums, solve->comm, &solve->in_reductions);
    if (!find_residual(it, &it->norm_b, problem))
        return false;
    solve->residual = it->norm_b > 0;
    *done = it->norm_b == 0;
    return true;
}

/*
 * Returns whether a test follows the iteration that has just ended: every TEST_INTERVAL-th one and
 * the last.
 */
static bool is_tested(const struct iteration *it) {
    long iterations = it->solve->iterations;
    return iterations % TEST_INTERVAL == 0 || iterations == it->solve->most_iterations || it->stuck;
}

/*
 * Replaces r by b - A x, overlapping the reduction of its norm and the exchange of its border. Sets
 * *DONE to whether the residual is small enough or, if the tolerance is 0, whether all iterations
 * are done.
 */
static bool test_residual(struct iteration *it, bool *done, app_problem *problem) {
    struct solve *solve = it->solve;
    double norm;
    bool last = solve->iterations == solve->most_iterations;
    if (!find_residual(it, &norm, problem))
        return false;
    solve->residual = norm / it->norm_b;
    *done = solve->tolerance > 0 ? solve->residual <= solve->tolerance : last;
    if (*done || (!last && !it->stuck))
        return true;
    return app_refuse(problem,
                      "%s %ld iterations: the residual is %.3g of the right-hand side's, %.3g was "
                      "asked for",
                      it->stuck ? "singular or not positive definite, as found in"
                                : "no convergence within",
                      solve->iterations, solve->residual, solve->tolerance);
}

double iteration_length(struct iteration *it, double rho, double sigma) {
    it->stuck = !(sigma > 0);
    return it->stuck ? 0 : rho / sigma;
}

static bool run_iterations(const struct solver *solver, struct iteration *it,
                           app_problem *problem) {
    bool done, good = begin_solution(it, solver->sums, &done, problem);
    for (bool fresh = true; good && !done;) {
        if (fresh && solver->restart)
            solver->restart(it);
        good = solver->step(it, problem);
        it->solve->iterations++;
        fresh = is_tested(it);
        if (!good || !fresh)
            continue;
        if (solver->settle)
            solver->settle(it);
        good = test_residual(it, &done, problem);
    }
    return good;
}

bool solver_run(const struct solver *solver, struct solve *solve, app_problem *problem) {
    struct iteration it = {.solve = solve, .shape = solve->matrix->shape};
    solve->in_reductions = 0;
    solve->halo->seconds = 0;
    if (!app_mpi(problem, MPI_Barrier(solve->comm)))
        return false;
    double start = MPI_Wtime();
    bool good = run_iterations(solver, &it, problem);
    for (int i = 0; i < SOLVER_FIELDS; i++)
        free(it.fields[i]);
    solve->seconds = MPI_Wtime() - start;
    solve->in_exchanges = solve->halo->seconds;
    return good;
}
