#include "config.h"

#include "cdcp/pmpi/account.h"

#include "lib/base/plain.h"

#include <stdio.h>

_Atomic bool coll_account_on;

/* Of the one thread that counts; dates and times in seconds, by kind of call. */
static _Thread_local bool counts;
static double start, entered, pause_began;
static double paused, inside[2], calls[2], served;
static int depth;

void coll_account_start(void) {
    coll_account_on = counts = true;
    start = PMPI_Wtime();
}

void coll_account_begin(void) {
    if (counts && depth++ == 0)
        entered = PMPI_Wtime();
}

void coll_account_end(coll_account_kind kind) {
    if (!counts || --depth > 0)
        return;
    inside[kind] += PMPI_Wtime() - entered;
    calls[kind]++;
}

void coll_account_pause(void) {
    if (!counts || !coll_account_on)
        return;
    coll_account_on = false;
    pause_began = PMPI_Wtime();
}

void coll_account_resume(void) {
    if (!counts || coll_account_on)
        return;
    coll_account_on = true;
    paused += PMPI_Wtime() - pause_began;
}

void coll_account_one_served(void) {
    if (counts)
        served++;
}

int coll_account_report(MPI_Comm world, int dcps) {
    if (!counts)
        return MPI_SUCCESS;
    coll_account_resume();
    double collective = inside[COLL_ACCOUNT_collective], point = inside[COLL_ACCOUNT_point];
    double mine[] = {PMPI_Wtime() - start - paused - collective - point,
                     collective,
                     point,
                     calls[COLL_ACCOUNT_collective],
                     served,
                     calls[COLL_ACCOUNT_point]};
    enum { FIGURES = sizeof mine / sizeof *mine };
    double sum[FIGURES];
    int rank, ranks;
    int code = PMPI_Comm_rank(world, &rank);
    if (code == MPI_SUCCESS)
        code = PMPI_Comm_size(world, &ranks);
    if (code == MPI_SUCCESS)
        code = PMPI_Reduce(mine, sum, FIGURES, MPI_DOUBLE, MPI_SUM, 0, world);
    if (code != MPI_SUCCESS || rank != 0)
        return code;
    for (int i = 0; i < FIGURES; i++)
        sum[i] /= ranks;
    coll_plain_print(
        stderr,
        "coll: account ranks=%d dcps=%d Tcomp=%.6f Tcoll=%.6f Tpoint=%.6f collectives=%.1f "
        "served=%.1f points=%.1f\n",
        ranks, dcps, sum[0], sum[1], sum[2], sum[3], sum[4], sum[5]);
    return MPI_SUCCESS;
}
