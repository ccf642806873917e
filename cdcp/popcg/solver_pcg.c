/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pcg: preconditioned conjugate gradients as in the Parallel Ocean Program (POP 2, solvers.F90),
 * and as Sancho, Kerbyson and Barker overlap its reductions (section V.F).
 *
 * Each iteration, with M the diagonal of A:
 *   z = r / M;       rho = (r, z)       reduction 1, overlaps the last iteration's x += alpha p
 *   p = z + rho / rho_before p
 *   q = A p;         sigma = (p, q)     reduction 2, overlaps the exchange of q's border
 *   alpha = rho / sigma;  r -= alpha q
 * and every ten iterations:
 *   x += alpha p;    r = b - A x;  (r, r)    reduction 3, overlaps the exchange of r's border
 *
 * Cost: 10 (operator + 2 reductions + exchange) + operator + reduction + exchange for ten
 * iterations.
 */
#include "config.h"

#include "cdcp/popcg/solver.h"

enum { R, Z, P, Q };

/* Adds the outstanding correction to x. */
void pcg_settle(struct iteration *it) {
    if (it->lags)
        field_combine(it->shape, it->solve->x, it->alpha, it->fields[P], 1);
    it->lags = false;
}

static bool find_direction(struct iteration *it, app_problem *problem) {
    double **f = it->fields, before = it->rho;
    field_multiply(it->shape, f[Z], it->solve->matrix->inverse, it->r);
    double part = field_dot(it->shape, it->r, f[Z]);
    if (!reduction_start(&it->sums[0], &part, problem))
        return false;
    pcg_settle(it);
    if (!reduction_finish(&it->sums[0], &it->rho, problem))
        return false;
    field_combine(it->shape, f[P], 1, f[Z], before > 0 ? it->rho / before : 0);
    return true;
}

bool pcg_step(struct iteration *it, app_problem *problem) {
    double **f = it->fields;
    if (!find_direction(it, problem))
        return false;
    nine_point_apply(it->solve->matrix, f[Q], f[P]);
    double part = field_dot(it->shape, f[P], f[Q]);
    if (!reduction_start(&it->sums[1], &part, problem) ||
        !halo_exchange(it->solve->halo, f[Q], problem) ||
        !reduction_finish(&it->sums[1], &it->sigma, problem))
        return false;
    it->alpha = iteration_length(it, it->rho, it->sigma);
    it->lags = true;
    field_combine(it->shape, it->r, -it->alpha, f[Q], 1);
    return true;
}
