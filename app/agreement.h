/* Problems among ranks: MPI's errors as text, and how all ranks learn of one and leave alike. */
#ifndef COLL_APP_AGREEMENT_H
#define COLL_APP_AGREEMENT_H

#include "app/problem.h"

#include <mpi.h>
#include <stdint.h>

/* This rank in COMM, and how many there are: where COMM is good nothing can go wrong. */
int app_rank(MPI_Comm comm);
int app_ranks(MPI_Comm comm);

/* True for MPI_SUCCESS; otherwise the text of MPI's error CODE is the problem, and false. */
bool app_mpi(app_problem *problem, int code);

/*
 * True on all ranks when none has a problem. Otherwise false, with the problem of the lowest rank
 * that has one now on all ranks, so that they leave alike. Collective. Call it wherever one rank
 * alone may fail, so that none waits for ever.
 */
bool app_agree(app_problem *problem, MPI_Comm comm);

/*
 * The same, which in the same message adds up the COUNT VALUES of all ranks, or takes the largest
 * of each: on all ranks; meaningless on false. More than eight VALUES take more messages.
 */
bool app_agree_sum(app_problem *problem, uint64_t *values, int count, MPI_Comm comm);
bool app_agree_most(app_problem *problem, double *values, int count, MPI_Comm comm);

/*
 * app_agree for a program that ends then: the lowest rank with a problem prints one line
 * "PROGRAM: PROBLEM" to stderr, and all ranks finalize MPI and exit with status 1.
 */
void app_agree_or_end(MPI_Comm comm, const char *program, const app_problem *problem);

/*
 * Begins MPI, for threads of which one alone calls it, and ends the program as app_agree_or_end
 * does where PROBLEM says what is wrong with the command line. Returns a duplicate of
 * MPI_COMM_WORLD whose errors come back, so that they can become one clear line. app_end frees it
 * and ends MPI; it returns main's EXIT_SUCCESS.
 */
MPI_Comm app_begin(int *argc, char ***argv, const char *program, const app_problem *problem);
int app_end(MPI_Comm *comm);

/*
 * Ends the program at once from one rank, where the other ranks can't be told in good order: prints
 * "PROGRAM: text" to stderr and calls MPI_Abort(comm, 1).
 */
_Noreturn void app_abort(MPI_Comm comm, const char *program, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
