/* Application programs on dedicated processors, for the tests: start, work or serve, stop. */
#ifndef COLL_TESTS_SUPPORT_DCP_RUN_H
#define COLL_TESTS_SUPPORT_DCP_RUN_H

#include "cdcp/dcp.h"

#include <mpi.h>
#include <stdbool.h>

/*
 * What COLL_TIMEOUT is after the start, where it is set: that must be long enough for the start on
 * a busy machine.
 */
extern double dcp_run_timeout;

/* In how many stages DCPs send what is for one of them; 0: by the model. */
extern int dcp_run_digits;

/* Does an application rank's work on APP; false where something is wrong. */
typedef bool dcp_work(MPI_Comm app, void *context);

/*
 * Starts DCPs by SPEC and TRANSPORT ("shared", "p2p") on WORLD, has the application ranks do WORK
 * and the others serve, and stops. Collective over WORLD; false on ranks where something went
 * wrong.
 */
bool dcp_run(MPI_Comm world, const char *spec, const char *transport, dcp_work *work,
             void *context);

/*
 * The same on communicators of RANKS + DCPS ranks of MPI_COMM_WORLD, for every number of DCPs that
 * there are ranks for up to MOST, and both transports. Collective over MPI_COMM_WORLD.
 */
bool dcp_run_everywhere(int ranks, int most, dcp_work *work, void *context);

/* How many ranks are the application's where the tests vary the number of DCPs. */
int dcp_run_applications(void);

/* Whether DCPs take an allreduce of COUNT elements. */
bool dcp_run_takes(int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* coll_dcp_wait, whose error is for nobody's handler. */
static inline int dcp_run_wait(coll_dcp_request **request) {
    MPI_Comm comm;
    return coll_dcp_wait(request, &comm);
}

/* Whether CODE is of MPI_ERR_OTHER with a text that has PART and OTHER; tells of it where not. */
bool dcp_run_is_error(int code, const char *part, const char *other);

/*
 * What the sum of value(0) .. value(ranks - 1) must be to the bit: along the tree that splits at
 * multiples of powers of two.
 */
double dcp_tree_sum(int ranks, double (*value)(int rank, void *context), void *context);

#endif
