/*
 * What the ranks of a communicator find out together, so that they leave an operation alike and
 * none waits for one that failed alone. Collective; waits politely, at most COLL_TIMEOUT; an error
 * of the communication itself leaves the communicator of no more use.
 */
#ifndef COLL_LIB_BASE_AGREE_H
#define COLL_LIB_BASE_AGREE_H

#include "lib/base/comm.h"

#include <stdint.h>

/* The largest of all ranks' NUMBERS, place by place; COUNT is at most COLL_AGREE_MOST. */
int coll_agree_highest(coll_comm *comm, int count, const int64_t numbers[], int64_t highest[]);

/*
 * The same without waiting: starts AGREEMENT with messages of TAG. Its memory, and the tag, belong
 * to the messages until it is complete, after an error for ever.
 */
int coll_agreement_start(coll_agreement *agreement, coll_comm *comm, int tag, int count,
                         const int64_t numbers[]);

/* Moves it on without waiting; *DONE: its numbers are in AGREEMENT->highest. */
int coll_agreement_advance(coll_agreement *agreement, bool *done);

/* Whether messages may still come into its memory. */
bool coll_agreement_under_way(const coll_agreement *agreement);

/* Waits for it, as long as the communicator's time-out allows. */
int coll_agreement_finish(coll_agreement *agreement);

/*
 * Returns MPI_SUCCESS if CODE is that on every rank, else the error of the lowest rank that has
 * one; COMM->agreed tells then that the call that runs has left no message under way.
 */
int coll_agree(coll_comm *comm, int code);

/*
 * *ALL is true where GOOD is on every rank of COMM, which need not have a state. Waits as the MPI
 * library does.
 */
int coll_agree_good(MPI_Comm comm, bool good, bool *all);

#endif
