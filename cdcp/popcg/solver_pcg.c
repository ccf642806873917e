/*
 * pcg: preconditioned conjugate gradients as in the Parallel Ocean Program (POP 2, solvers.F90),
 * and as the paper "CDCP" overlaps its reductions (section V.F).
 *
 * Each iteration, with M the diagonal of A:
 *   z = r / M;       rho = (r, z)       reduction 1, overlaps the correction x += alpha p of before
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

enum { R, Z, P, Q, FIELDS };

struct pcg {
    struct iteration it;
    struct reduction rho_sum, sigma_sum;
    double rho, alpha;
    bool correction_due; /* x lacks alpha p */
};

static void correct_solution(struct pcg *pcg) {
    if (pcg->correction_due)
        field_combine(pcg->it.shape, pcg->it.solve->x, pcg->alpha, pcg->it.fields[P], 1);
    pcg->correction_due = false;
}

static bool find_direction(struct pcg *pcg, app_problem *problem) {
    struct iteration *it = &pcg->it;
    double **f = it->fields, before = pcg->rho;
    field_multiply(it->shape, f[Z], it->solve->matrix->inverse, it->r);
    double part = field_dot(it->shape, it->r, f[Z]);
    if (!reduction_start(&pcg->rho_sum, &part, problem))
        return false;
    correct_solution(pcg);
    if (!reduction_finish(&pcg->rho_sum, &pcg->rho, problem))
        return false;
    field_combine(it->shape, f[P], 1, f[Z], before > 0 ? pcg->rho / before : 0);
    return true;
}

static bool step(struct pcg *pcg, app_problem *problem) {
    struct iteration *it = &pcg->it;
    double **f = it->fields, sigma;
    nine_point_apply(it->solve->matrix, f[Q], f[P]);
    double part = field_dot(it->shape, f[P], f[Q]);
    if (!reduction_start(&pcg->sigma_sum, &part, problem) ||
        !halo_exchange(it->solve->halo, f[Q], problem) ||
        !reduction_finish(&pcg->sigma_sum, &sigma, problem))
        return false;
    pcg->alpha = iteration_length(it, pcg->rho, sigma);
    pcg->correction_due = true;
    field_combine(it->shape, it->r, -pcg->alpha, f[Q], 1);
    return true;
}

bool solver_pcg(struct solve *solve, app_problem *problem) {
    struct pcg pcg = {.rho = 0};
    struct iteration *it = &pcg.it;
    bool done, good = iteration_begin(it, solve, FIELDS, &done, problem);
    reduction_init(&pcg.rho_sum, solve->mode, 1, solve->comm, &solve->in_reductions);
    reduction_init(&pcg.sigma_sum, solve->mode, 1, solve->comm, &solve->in_reductions);
    while (good && !done) {
        good = find_direction(&pcg, problem) && step(&pcg, problem);
        solve->iterations++;
        if (good && iteration_is_tested(it)) {
            correct_solution(&pcg);
            good = iteration_test(it, &done, problem);
        }
    }
    iteration_end(it);
    return good;
}
