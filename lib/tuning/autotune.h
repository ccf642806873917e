/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Autotuning while a program runs, so that users need not measure a profile: now and then, calls of
 * a size class on a communicator try another algorithm if the try costs little
 * (lib/tuning/autotune_rounds.h), and the fastest algorithm runs from then on.
 *
 * - The algorithm of a call depends only on data that is the same on all ranks: the number of the
 *   call in its class, predictions, and agreed times. Agreements are nonblocking, and complete
 *   during the next few calls.
 * - Rank 0's results of other communicators or earlier runs (lib/tuning/tuning_db.h) are sent to
 *   all ranks with the first call of a class.
 * - Algorithms that are not predicted to be faster on any network that the job may run on are not
 *   tried, nor is the MPI library's own if it was slower in smaller calls.
 * - Each rank times its calls from begin to end, and the longest of all ranks' times counts.
 * - Nonblocking calls use the results of blocking ones: their own times depend mostly on what the
 *   program does meanwhile.
 * - Nothing is tuned within a host or between sites, for neighbourhood collectives, for small or
 *   short calls, if the user has named an algorithm, if not all ranks know all sizes, or if a block
 *   is more than twice as long as the mean. Reductions, whose last bits differ between algorithms,
 *   are tuned only with COLL_LEARN=all.
 */
#ifndef COLL_LIB_TUNING_AUTOTUNE_H
#define COLL_LIB_TUNING_AUTOTUNE_H

#include "lib/algorithm/operations.h"
#include "lib/base/comm.h"
#include "lib/tuning/select.h"

#include <stdbool.h>

/* The tuning of one operation and size class on a communicator. */
typedef struct coll_autotuning coll_autotuning;

/*
 * Called before a blocking CALL that is still being tuned. Replaces *CHOICE, the predicted choice,
 * by the algorithm to run. If *TRIAL is not NULL afterwards, coll_autotune_end must follow the
 * call. After an error COMM is broken.
 */
int coll_autotune_begin(coll_comm *comm, const coll_shape *call, coll_choice *choice,
                        coll_autotuning **trial);

/* Records that the call took SECONDS. Never waits. */
int coll_autotune_end(coll_autotuning *trial, double seconds);

/*
 * Returns whether tuning is complete for calls like CALL, or never takes place. If it is complete,
 * replaces *CHOICE, the predicted choice, by the tuned one.
 */
bool coll_autotune_settled(const coll_comm *comm, const coll_shape *call, coll_choice *choice);

/* Replaces *CHOICE, of a nonblocking or persistent call, by the best algorithm found so far, if
 * that algorithm can run such calls. */
void coll_autotune_started(const coll_comm *comm, const coll_shape *call, coll_choice *choice);

/* Replaces *CHOICE by the best algorithm found so far, as far as this rank knows; for explanations.
 */
void coll_autotune_tell(const coll_comm *comm, const coll_shape *call, coll_choice *choice);

/* The tuning's slot in every communicator. */
extern coll_comm_key coll_autotune_key;

#endif
