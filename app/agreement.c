/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "app/agreement.h"

#include "app/output.h"
#include "app/progress.h"
#include "lib/base/abort.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int app_rank(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

int app_ranks(MPI_Comm comm) {
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    return ranks;
}

bool app_mpi(app_problem *problem, int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return true;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        return app_refuse(problem, "MPI error %d", code);
    return app_refuse(problem, "%s", text);
}

/* Sets *FIRST to the lowest rank that has a PROBLEM; INT_MAX if none has. */
static int find_first_problem(const app_problem *problem, MPI_Comm comm, int *first) {
    int rank;
    int code = MPI_Comm_rank(comm, &rank);
    if (code != MPI_SUCCESS)
        return code;
    int mine = *problem->text ? rank : INT_MAX;
    return MPI_Allreduce(&mine, first, 1, MPI_INT, MPI_MIN, comm);
}

bool app_agree(app_problem *problem, MPI_Comm comm) {
    int first;
    if (!app_mpi(problem, find_first_problem(problem, comm, &first)))
        return false;
    if (first == INT_MAX)
        return true;
    app_mpi(problem, MPI_Bcast(problem->text, sizeof problem->text, MPI_CHAR, first, comm));
    return false;
}

static_assert(sizeof(double) == sizeof(uint64_t), "values of one size");

/*
 * Reduces COUNT VALUES with OP, in place, together with MINE, a value of the same TYPE that is not
 * 0 if this rank has a problem. Returns false on all ranks if any rank has one.
 */
static bool reduce_and_agree(app_problem *problem, const void *mine, void *values, int count,
                             MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    enum { MOST = 8 }; /* values in one message: enough for most callers */
    uint64_t all[1 + MOST], *next = values;
    do {
        const int part = count < MOST ? count : MOST;
        memcpy(all, mine, sizeof *all);
        memcpy(all + 1, next, (size_t)part * sizeof *all);
        if (!app_mpi(problem, MPI_Allreduce(MPI_IN_PLACE, all, 1 + part, type, op, comm)))
            return false;
        if (all[0] != 0)
            return app_agree(problem, comm);
        memcpy(next, all + 1, (size_t)part * sizeof *all);
        next += part;
        count -= part;
    } while (count > 0);
    return true;
}

bool app_agree_sum(app_problem *problem, uint64_t *values, int count, MPI_Comm comm) {
    uint64_t mine = *problem->text != '\0';
    return reduce_and_agree(problem, &mine, values, count, MPI_UINT64_T, MPI_SUM, comm);
}

bool app_agree_most(app_problem *problem, double *values, int count, MPI_Comm comm) {
    double mine = *problem->text != '\0';
    return reduce_and_agree(problem, &mine, values, count, MPI_DOUBLE, MPI_MAX, comm);
}

void app_agree_or_end(MPI_Comm comm, const char *program, const app_problem *problem) {
    int rank, first;
    if (find_first_problem(problem, comm, &first) != MPI_SUCCESS)
        coll_abort();
    if (first == INT_MAX)
        return;
    app_progress_hide();
    MPI_Comm_rank(comm, &rank);
    if (first == rank)
        fprintf(stderr, "%s: %s\n", program, problem->text);
    MPI_Finalize();
    exit(EXIT_FAILURE);
}

MPI_Comm app_begin(int *argc, char ***argv, const char *program, const app_problem *problem) {
    MPI_Comm comm;
    int provided;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        exit(EXIT_FAILURE);
    app_agree_or_end(MPI_COMM_WORLD, program, problem);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

int app_end(MPI_Comm *comm) {
    MPI_Comm_free(comm);
    MPI_Finalize();
    return EXIT_SUCCESS;
}

void app_abort(const char *program, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    app_progress_hide();
    fprintf(stderr, "%s: %s\n", program, text);
    app_output_abandon();
    coll_abort();
}
