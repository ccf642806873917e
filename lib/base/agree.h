/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agreements among the ranks of a communicator: all ranks leave an operation with the same outcome,
 * and no rank waits for a rank that has failed alone. Collective. Waits as the communicator does,
 * and fails if no message arrives for COLL_TIMEOUT. After a communication error the communicator
 * can no longer be used.
 */
#ifndef COLL_LIB_BASE_AGREE_H
#define COLL_LIB_BASE_AGREE_H

#include "lib/base/comm.h"

#include <stdint.h>

/* Sets HIGHEST[i] to the largest NUMBERS[i] of all ranks. COUNT is at most COLL_AGREE_MOST. */
int coll_agree_highest(coll_comm *comm, int count, const int64_t numbers[], int64_t highest[]);

/*
 * Starts an agreement as coll_agree_highest does, without waiting. The messages use TAG. Do not
 * reuse AGREEMENT's memory or TAG before the agreement is complete, and never after an error.
 */
int coll_agreement_start(coll_agreement *agreement, coll_comm *comm, int tag, int count,
                         const int64_t numbers[]);

/*
 * Advances AGREEMENT without waiting. *DONE says whether it is complete; the result is then in
 * AGREEMENT->highest.
 */
int coll_agreement_advance(coll_agreement *agreement, bool *done);

/* Returns the number of successive messages of an agreement among RANKS ranks. */
int coll_agreement_rounds(int ranks);

/* Returns whether messages may still arrive in AGREEMENT's memory. */
bool coll_agreement_under_way(const coll_agreement *agreement);

/*
 * Waits until AGREEMENT is complete. Fails if none of its messages completes for as long as the
 * communicator's timeout; the error names the silent ranks if they are known.
 */
int coll_agreement_finish(coll_agreement *agreement);

/*
 * Returns MPI_SUCCESS if CODE is MPI_SUCCESS on every rank, else the error of the lowest rank that
 * has one. In the latter case sets COMM->agreed: all ranks then know that the current call has
 * failed and has left no message in flight.
 */
int coll_agree(coll_comm *comm, int code);

/*
 * Sets *ALL to whether GOOD is true on every rank of COMM, which need not have a coll_comm. Calls
 * PMPI_Allreduce, so it waits as the MPI library does, without a timeout.
 */
int coll_agree_good(MPI_Comm comm, bool good, bool *all);

#endif
