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
 * Waits like that for REQUEST, of a nonblocking collective on COMM's private communicator, to which
 * the memory that it was given belongs until then: after an error for ever.
 */
int coll_agree_finish(coll_comm *comm, MPI_Request *request);

/* MPI_SUCCESS where CODE is that on every rank, else the error of the lowest rank that has one. */
int coll_agree(coll_comm *comm, int code);

/*
 * *ALL is true where GOOD is on every rank of COMM, which need not have a state. Waits as the MPI
 * library does.
 */
int coll_agree_good(MPI_Comm comm, bool good, bool *all);

#endif
