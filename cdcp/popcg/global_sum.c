/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/popcg/global_sum.h"

#include "app/agreement.h"

#include <math.h>

/* With blocking reductions, the program waits at the finish, and nothing overlaps. */
static int start_blocking(struct reduction *reduction) {
    (void)reduction;
    return MPI_SUCCESS;
}

static int finish_blocking(struct reduction *reduction) {
    return MPI_Allreduce(reduction->sent, reduction->received, 2 * reduction->count, MPI_DOUBLE,
                         MPI_SUM, reduction->comm);
}

static int start_nbc(struct reduction *reduction) {
    return MPI_Iallreduce(reduction->sent, reduction->received, 2 * reduction->count, MPI_DOUBLE,
                          MPI_SUM, reduction->comm, &reduction->request);
}

static int finish_nbc(struct reduction *reduction) {
    return MPI_Wait(&reduction->request, MPI_STATUS_IGNORE);
}

static int start_dcp(struct reduction *reduction) {
    return DCP_IAllreduce(reduction->sent, reduction->received, 2 * reduction->count, MPI_DOUBLE,
                          MPI_SUM, reduction->comm, &reduction->pending);
}

static int finish_dcp(struct reduction *reduction) {
    return DCP_Wait(&reduction->pending);
}

const struct reduction_mode reduction_modes[] = {
    {"blocking", start_blocking, finish_blocking},
    {"nbc", start_nbc, finish_nbc},
    {"dcp", start_dcp, finish_dcp},
    {NULL, NULL, NULL},
};

enum {
    HEADROOM = 20,         /* bits by which the next part may be larger than this sum */
    SUM_BITS = 50,         /* least number of significant bits of a sum */
    LEAST_EXPONENT = -900, /* least exponent of a scale, so that its quanta are not denormal */
};

/*
 * Returns the least power of two above |VALUE| 2^HEADROOM, but at least 2^LEAST_EXPONENT. Returns
 * 2^HEADROOM if VALUE is 0.
 */
static double scale_for(double value) {
    int exponent;
    frexp(value, &exponent);
    exponent += HEADROOM;
    return ldexp(1, exponent > LEAST_EXPONENT ? exponent : LEAST_EXPONENT);
}

void reduction_init(struct reduction *reduction, const struct reduction_mode *mode, int count,
                    MPI_Comm comm, double *seconds) {
    int ranks = app_ranks(comm);
    *reduction = (struct reduction){.mode = mode,
                                    .comm = comm,
                                    .count = count,
                                    .bits = 52,
                                    .request = MPI_REQUEST_NULL,
                                    .pending = DCP_REQUEST_NULL,
                                    .seconds = seconds};
    for (int most = 1; most < ranks; most *= 2)
        reduction->bits--;
}

/*
 * Splits PART into a multiple of a coarse quantum and a multiple of a fine quantum; both are
 * infinite if PART is too large for SCALE.
 */
static void split_part(double part, double scale, int bits, double pieces[2]) {
    double coarse = ldexp(scale, -bits), fine = ldexp(coarse, -bits);
    if (!(fabs(part) < scale)) {
        pieces[0] = pieces[1] = INFINITY;
        return;
    }
    pieces[0] = rint(part / coarse) * coarse;
    pieces[1] = rint((part - pieces[0]) / fine) * fine;
}

static int start_sum(struct reduction *reduction) {
    for (int i = 0; i < reduction->count; i++)
        split_part(reduction->part[i], reduction->scale[i], reduction->bits,
                   &reduction->sent[2 * i]);
    return reduction->mode->start(reduction);
}

/* Agrees on scales above the largest parts. A maximum is the same in any order. */
static int agree_on_scales(struct reduction *reduction) {
    double mine[REDUCTION_MOST], largest[REDUCTION_MOST];
    for (int i = 0; i < reduction->count; i++)
        mine[i] = isfinite(reduction->part[i]) ? fabs(reduction->part[i]) : INFINITY;
    int code = MPI_Allreduce(mine, largest, reduction->count, MPI_DOUBLE, MPI_MAX, reduction->comm);
    for (int i = 0; i < reduction->count && code == MPI_SUCCESS; i++)
        reduction->scale[i] = isfinite(largest[i]) ? scale_for(largest[i]) : NAN;
    return code;
}

/*
 * Returns whether a part was too large for its scale, or the sum is too small for the fine quantum.
 */
static bool is_off_scale(const struct reduction *reduction) {
    for (int i = 0; i < reduction->count; i++) {
        double sum = reduction->received[2 * i] + reduction->received[2 * i + 1];
        if (!(fabs(sum) >= ldexp(reduction->scale[i], SUM_BITS - 2 * reduction->bits)) ||
            !isfinite(sum))
            return true;
    }
    return false;
}

static int finish_sum(struct reduction *reduction) {
    int code = reduction->mode->finish(reduction);
    if (code != MPI_SUCCESS || !is_off_scale(reduction))
        return code;
    code = agree_on_scales(reduction);
    if (code == MPI_SUCCESS)
        code = start_sum(reduction);
    return code == MPI_SUCCESS ? reduction->mode->finish(reduction) : code;
}

bool reduction_start(struct reduction *reduction, const double parts[], app_problem *problem) {
    double begun = MPI_Wtime();
    for (int i = 0; i < reduction->count; i++)
        reduction->part[i] = parts[i];
    int code = start_sum(reduction);
    *reduction->seconds += MPI_Wtime() - begun;
    return app_mpi(problem, code);
}

bool reduction_finish(struct reduction *reduction, double sums[], app_problem *problem) {
    double begun = MPI_Wtime();
    int code = finish_sum(reduction);
    for (int i = 0; i < reduction->count && code == MPI_SUCCESS; i++) {
        double sum = reduction->received[2 * i] + reduction->received[2 * i + 1];
        sums[i] = isfinite(sum) ? sum : NAN;
        if (sums[i] != 0 && isfinite(sums[i]))
            reduction->scale[i] = scale_for(sums[i]);
    }
    *reduction->seconds += MPI_Wtime() - begun;
    return app_mpi(problem, code);
}
