/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chrongear: conjugate gradients with one reduction an iteration (D'Azevedo, Eijkhout, Romine:
 * LAPACK Working Note 56, 1993), the variant that later versions of the Parallel Ocean Program use.
 *
 * Each iteration, with M the diagonal of A; sigma, p and q are zero at first:
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

enum { R, Z, W, P, Q };

bool chrongear_step(struct iteration *it, app_problem *problem) {
    struct solve *solve = it->solve;
    double **f = it->fields, sums[2], parts[2];
    field_multiply(it->shape, f[Z], solve->matrix->inverse, it->r);
    nine_point_apply(solve->matrix, f[W], f[Z]);
    parts[0] = field_dot(it->shape, it->r, f[Z]);
    parts[1] = field_dot(it->shape, f[Z], f[W]);
    if (!reduction_start(it->sums, parts, problem) || !halo_exchange(solve->halo, f[W], problem) ||
        !reduction_finish(it->sums, sums, problem))
        return false;
    double beta = it->rho > 0 ? sums[0] / it->rho : 0;
    it->rho = sums[0];
    it->sigma = sums[1] - beta * beta * it->sigma;
    double alpha = iteration_length(it, it->rho, it->sigma);
    field_combine(it->shape, f[P], 1, f[Z], beta);
    field_combine(it->shape, f[Q], 1, f[W], beta);
    field_combine(it->shape, solve->x, alpha, f[P], 1);
    field_combine(it->shape, it->r, -alpha, f[Q], 1);
    return true;
}
