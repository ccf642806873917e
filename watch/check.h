/*
 * COLL_WATCH=check: before each collective the ranks of its communicator compare what they are
 * about to call.
 */
#ifndef COLL_WATCH_CHECK_H
#define COLL_WATCH_CHECK_H

#include "watch/recorder.h"

extern bool watch_checks;

/* Gives COMM a communicator for these messages. Collective over it, unless it joins two groups. */
int watch_check_prepare(watch_comm *comm);

/* Frees what watch_check_prepare has given COMM, which is about to go. */
void watch_check_release(watch_comm *comm);

/*
 * Collective over CALL's communicator, where it was prepared: MPI_SUCCESS where all ranks make the
 * same call; small allreduces and barriers are done by then. Otherwise one rank says on stderr who
 * calls what, and the communicator's error handler gets MPI_ERR_ARG, which is returned where that
 * returns.
 */
int watch_check(watch_call *call);

#endif
