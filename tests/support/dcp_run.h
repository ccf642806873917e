/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs application programs with dedicated processors, for tests: start, work or serve, stop. */
#ifndef COLL_TESTS_SUPPORT_DCP_RUN_H
#define COLL_TESTS_SUPPORT_DCP_RUN_H

#include "cdcp/dcp.h"

#include <mpi.h>
#include <stdbool.h>

/*
 * The value of COLL_TIMEOUT after the start, if it is set. During the start it must be long enough
 * for a busy machine.
 */
extern double dcp_run_timeout;

/* The number of stages in which DCPs send data that is for one of them; 0 lets the model choose. */
extern int dcp_run_digits;

/* Does an application rank's work on APP. Returns false if something is wrong. */
typedef bool dcp_work(MPI_Comm app, void *context);

/*
 * Starts DCPs with SPEC and TRANSPORT ("shared", "p2p") on WORLD, does WORK on the application
 * ranks while the others serve, and stops. Collective over WORLD. Returns false on ranks on which
 * something went wrong.
 */
bool dcp_run(MPI_Comm world, const char *spec, const char *transport, dcp_work *work,
             void *context);

/*
 * Does the same on communicators of RANKS + DCPS ranks of MPI_COMM_WORLD, for every possible number
 * of DCPs up to MOST, and both transports. Collective over MPI_COMM_WORLD.
 */
bool dcp_run_everywhere(int ranks, int most, dcp_work *work, void *context);

/* Returns the number of application ranks to pass to dcp_run_everywhere. */
int dcp_run_applications(void);

/* Returns whether DCPs serve an allreduce of COUNT elements. */
bool dcp_run_takes(int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* Calls coll_dcp_wait without an error handler. */
static inline int dcp_run_wait(coll_dcp_request **request) {
    MPI_Comm comm;
    return coll_dcp_wait(request, &comm);
}

/*
 * Returns whether CODE is of class MPI_ERR_OTHER with a text that has PART and OTHER. Otherwise
 * prints it.
 */
bool dcp_run_is_error(int code, const char *part, const char *other);

/*
 * Returns the exact bits of the sum value(0) + ... + value(ranks - 1) along the tree that splits at
 * multiples of powers of two.
 */
double dcp_tree_sum(int ranks, double (*value)(int rank, void *context), void *context);

#endif
