/*
 * chrongear: conjugate gradients with one reduction an iteration (D'Azevedo, Eijkhout, Romine:
 * LAPACK Working Note 56, 1993), the variant that later versions of the Parallel Ocean Program use.
 *
 * Each iteration, with M the diagonal of A and sigma, p, q of zero at first:
 *   z = r / M;  w = A z
 *   rho = (r, z), delta = (z, w)        one reduction, overlaps the exchange of w's border
 *   beta = rho / rho_before
 *   sigma = delta - beta^2 sigma        which is p A p
 *   p = z + beta p;  q = w + beta q;    q is A p
 *   alpha = rho / sigma;  x += alpha p;  r -= alpha q
 * and every ten iterations r = b - A x and (r, r), as in pcg.
 *
 * Cost: 10 (operator + reduction + exchange) + operator + reduction + exchange for ten iterations.
 */
#include "config.h"

#include "cdcp/popcg/solver.h"

enum { R, Z, W, P, Q, FIELDS };

struct chrongear {
    struct iteration it;
    struct reduction sums;
    double rho, sigma;
};

static bool step(struct chrongear *state, app_problem *problem) {
    struct iteration *it = &state->it;
    struct solve *solve = it->solve;
    double **f = it->fields, sums[2], parts[2];
    field_multiply(it->shape, f[Z], solve->matrix->inverse, it->r);
    nine_point_apply(solve->matrix, f[W], f[Z]);
    parts[0] = field_dot(it->shape, it->r, f[Z]);
    parts[1] = field_dot(it->shape, f[Z], f[W]);
    if (!reduction_start(&state->sums, parts, problem) ||
        !halo_exchange(solve->halo, f[W], problem) ||
        !reduction_finish(&state->sums, sums, problem))
        return false;
    double beta = state->rho > 0 ? sums[0] / state->rho : 0;
    state->rho = sums[0];
    state->sigma = sums[1] - beta * beta * state->sigma;
    double alpha = iteration_length(it, state->rho, state->sigma);
    field_combine(it->shape, f[P], 1, f[Z], beta);
    field_combine(it->shape, f[Q], 1, f[W], beta);
    field_combine(it->shape, solve->x, alpha, f[P], 1);
    field_combine(it->shape, it->r, -alpha, f[Q], 1);
    return true;
}

bool solver_chrongear(struct solve *solve, app_problem *problem) {
    struct chrongear state = {.rho = 0};
    struct iteration *it = &state.it;
    bool done, good = iteration_begin(it, solve, FIELDS, &done, problem);
    reduction_init(&state.sums, solve->mode, 2, solve->comm, &solve->in_reductions);
    while (good && !done) {
        good = step(&state, problem);
        solve->iterations++;
        if (good && iteration_is_tested(it))
            good = iteration_test(it, &done, problem);
    }
    iteration_end(it);
    return good;
}
