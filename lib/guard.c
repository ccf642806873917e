#include "config.h"

#include "lib/guard.h"

#include "lib/env.h"

#include <stdlib.h>
#include <string.h>

enum { CHOSEN, NATIVE, RIVALS, RUNS = 3 };

/* Native must be faster by more than this, or measurements would overrule the model by chance. */
static const double CLEARLY = 1.05;

/* What a test's slow algorithm takes longer; s. */
static const double SLOW = 1e6;

static bool seems_slow(const coll_algorithm *algorithm) {
    const char *slow = coll_env("COLL_TEST_SLOW");
    return slow && strcmp(slow, algorithm->name) == 0;
}

/* One run from a common start; the seconds of this rank. */
static int time_once(const coll_comm *comm, coll_guard_run *run, const void *call,
                     const coll_choice *rival, double *seconds) {
    int code = PMPI_Barrier(comm->private);
    double start = PMPI_Wtime();
    if (code == MPI_SUCCESS)
        code = run(call, rival->algorithm, &rival->values);
    *seconds = PMPI_Wtime() - start + (seems_slow(rival->algorithm) ? SLOW : 0);
    return code;
}

/* The least of the runs that count, each by its slowest rank; alike on all ranks. */
static int compare(const coll_comm *comm, coll_guard_run *run, const void *call,
                   const coll_choice rivals[RIVALS], double least[RIVALS]) {
    double mine[RIVALS][RUNS], slowest[RIVALS][RUNS];
    for (int i = 0; i < RUNS; i++)
        for (int r = 0; r < RIVALS; r++) {
            int code = time_once(comm, run, call, &rivals[r], &mine[r][i]);
            if (code != MPI_SUCCESS)
                return code;
        }
    int code = PMPI_Allreduce(mine, slowest, RIVALS * RUNS, MPI_DOUBLE, MPI_MAX, comm->private);
    for (int r = 0; r < RIVALS; r++)
        for (int i = 1; i < RUNS; i++)
            least[r] = i == 1 || slowest[r][i] < least[r] ? slowest[r][i] : least[r];
    return code;
}

int coll_guard(coll_comm *comm, coll_operation operation, size_t bytes, coll_guard_run *run,
               const void *call, coll_choice *choice, bool *done) {
    const coll_algorithm *native = coll_operations[operation].table[0];
    *done = false;
    if (!comm->guard || bytes == COLL_BYTES_UNKNOWN || comm->specs[operation].algorithm ||
        choice->algorithm == native)
        return MPI_SUCCESS;
    coll_verdict verdict = coll_comm_decision(comm, operation, bytes)->verdict;
    coll_choice rivals[RIVALS] = {*choice,
                                  {.algorithm = native, .values = coll_values_default(native)}};
    if (verdict == COLL_VERDICT_NONE) {
        double least[RIVALS];
        int code = compare(comm, run, call, rivals, least);
        if (code != MPI_SUCCESS)
            return code;
        verdict =
            least[CHOSEN] > CLEARLY * least[NATIVE] ? COLL_VERDICT_NATIVE : COLL_VERDICT_CHOICE;
        coll_comm_judge(comm, operation, bytes, verdict);
        *done = true;
    }
    if (verdict == COLL_VERDICT_NATIVE)
        *choice = rivals[NATIVE];
    choice->why = verdict == COLL_VERDICT_NATIVE ? "the guard found native faster"
                                                 : "least predicted time; the guard agrees";
    return MPI_SUCCESS;
}
