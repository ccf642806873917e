/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pipecg: pipelined conjugate gradients (Ghysels, Vanroose: Hiding global synchronization latency
 * in the preconditioned Conjugate Gradient algorithm, Parallel Computing 40, 2014, algorithm 4).
 *
 * With M the diagonal of A, u = r / M and w = A u, each iteration:
 *   gamma = (r, u), delta = (w, u)      one reduction, overlaps the exchange of w's border and
 *   m = w / M;  n = A m                 the operator
 *   beta = gamma / gamma_before;  alpha = gamma / (delta - beta gamma / alpha_before)
 *   z = n + beta z;  q = m + beta q;  s = w + beta s;  p = u + beta p
 *   x += alpha p;  r -= alpha s;  u -= alpha q;  w -= alpha z
 * and every ten iterations r = b - A x and (r, r), as in pcg, and then u and w from r.
 *
 * Cost: 10 (max(exchange + operator, reduction)) + 2 operators + reduction + exchange for ten
 * iterations. In each iteration five more fields must be updated than in pcg.
 */
#include "config.h"

#include "cdcp/popcg/solver.h"

enum { R, U, W, M, N, P, S, Q, Z };

/* Computes u and w from a new r. */
void pipecg_restart(struct iteration *it) {
    field_multiply(it->shape, it->fields[U], it->solve->matrix->inverse, it->r);
    nine_point_apply(it->solve->matrix, it->fields[W], it->fields[U]);
}

static void update_fields(struct iteration *it, double beta) {
    double **f = it->fields, alpha = it->alpha;
    field_combine(it->shape, f[Z], 1, f[N], beta);
    field_combine(it->shape, f[Q], 1, f[M], beta);
    field_combine(it->shape, f[S], 1, f[W], beta);
    field_combine(it->shape, f[P], 1, f[U], beta);
    field_combine(it->shape, it->solve->x, alpha, f[P], 1);
    field_combine(it->shape, it->r, -alpha, f[S], 1);
    field_combine(it->shape, f[U], -alpha, f[Q], 1);
    field_combine(it->shape, f[W], -alpha, f[Z], 1);
}

bool pipecg_step(struct iteration *it, app_problem *problem) {
    struct solve *solve = it->solve;
    double **f = it->fields, sums[2];
    double parts[2] = {field_dot(it->shape, it->r, f[U]), field_dot(it->shape, f[W], f[U])};
    if (!reduction_start(it->sums, parts, problem) || !halo_exchange(solve->halo, f[W], problem))
        return false;
    field_multiply(it->shape, f[M], solve->matrix->inverse, f[W]);
    nine_point_apply(solve->matrix, f[N], f[M]);
    if (!reduction_finish(it->sums, sums, problem))
        return false;
    double gamma = sums[0], delta = sums[1];
    double beta = it->rho > 0 ? gamma / it->rho : 0;
    double sigma = beta > 0 ? delta - beta * gamma / it->alpha : delta;
    it->rho = gamma;
    it->alpha = iteration_length(it, gamma, sigma);
    update_fields(it, beta);
    return true;
}
