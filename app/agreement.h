/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors in MPI programs: converts MPI's errors to text and makes all ranks agree on whether to go
 * on.
 */
#ifndef COLL_APP_AGREEMENT_H
#define COLL_APP_AGREEMENT_H

#include "app/problem.h"

#include <mpi.h>
#include <stdint.h>

/* Return this rank in COMM and the number of ranks. COMM must be valid. */
int app_rank(MPI_Comm comm);
int app_ranks(MPI_Comm comm);

/*
 * Returns true if CODE is MPI_SUCCESS; otherwise sets PROBLEM to MPI's error text and returns
 * false.
 */
bool app_mpi(app_problem *problem, int code);

/*
 * Returns true on all ranks if none has a problem. Otherwise returns false on all ranks and sets
 * PROBLEM everywhere to the problem of the lowest rank that has one, so that all ranks take the
 * same path. Collective. Call it wherever a single rank may fail, so that no rank waits forever.
 */
bool app_agree(app_problem *problem, MPI_Comm comm);

/*
 * Agree like app_agree, and in the same allreduce set each of COUNT VALUES to its sum or maximum
 * over all ranks. On false VALUES are undefined. More than eight VALUES take several allreduces.
 */
bool app_agree_sum(app_problem *problem, uint64_t *values, int count, MPI_Comm comm);
bool app_agree_most(app_problem *problem, double *values, int count, MPI_Comm comm);

/*
 * Ends the program on all ranks if any rank has a problem: the lowest such rank prints one line
 * "PROGRAM: PROBLEM" to stderr, and all ranks finalize MPI and exit with status 1. Collective.
 */
void app_agree_or_end(MPI_Comm comm, const char *program, const app_problem *problem);

/*
 * Initialises MPI with MPI_THREAD_FUNNELED. If PROBLEM says what is wrong with the command line,
 * ends the program like app_agree_or_end. Returns a duplicate of MPI_COMM_WORLD that returns
 * errors, so that they can be reported in one clear line. app_end frees the duplicate, finalizes
 * MPI, and returns EXIT_SUCCESS for main.
 */
MPI_Comm app_begin(int *argc, char ***argv, const char *program, const app_problem *problem);
int app_end(MPI_Comm *comm);

/*
 * Ends the program at once from one rank, when the other ranks can't take part: prints "PROGRAM:
 * text" to stderr. The job's status is 1.
 */
_Noreturn void app_abort(const char *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
