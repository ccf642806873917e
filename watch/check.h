/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * COLL_WATCH=check: before each collective, the ranks of its communicator compare the calls that
 * they are about to make.
 */
#ifndef COLL_WATCH_CHECK_H
#define COLL_WATCH_CHECK_H

#include "watch/recorder.h"

extern bool watch_checks;

/*
 * Creates a communicator for the comparisons on COMM, whose entry is PLACE. Does nothing if COMM is
 * an intercommunicator or MPI_COMM_NULL, or if PLACE is NULL on some rank, whose table is full.
 * Collective over COMM.
 */
void watch_check_prepare(MPI_Comm comm, watch_comm *place);

/* Frees the communicator that watch_check_prepare has created, before COMM itself is freed. */
void watch_check_release(watch_comm *comm);

/*
 * Compares CALL on all ranks of its communicator. Collective over that communicator; does nothing
 * if watch_check_prepare has not prepared the communicator. Returns MPI_SUCCESS if all ranks make
 * the same call, and sets CALL->done if this has also completed CALL: a small allreduce or a
 * barrier. Otherwise one rank prints on stderr which ranks make which calls, and the communicator's
 * error handler is invoked with MPI_ERR_ARG, which is returned if the handler returns.
 */
int watch_check(watch_call *call);

#endif
