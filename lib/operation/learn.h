/*
 * Learning which algorithm is the fastest while a program runs, for those who have measured no
 * profile: now and then calls of a size class on a communicator try another algorithm where that
 * costs little (lib/operation/lesson.h), and the one that takes the least time runs from then on.
 *
 * - What a call runs follows from what all ranks know alike: which call of its class it is, prices,
 *   and what all have agreed on. Agreements are nonblocking and have some calls' time to arrive.
 * - What rank 0 knows from before, of another communicator or an earlier run
 *   (lib/operation/learnt.h), comes to all with the first call of a class.
 * - Nothing is tried that is not predicted to be faster on any network that the job may run on, nor
 *   the MPI library's own where it has lost in smaller calls.
 * - What counts is the time from a call's begin to its end, on each rank. Where nobody ends before
 *   all have begun the least of all ranks' times tells, which no late rank makes longer. Elsewhere,
 *   where a broadcast's root may have left before others come, the largest does.
 * - Calls that are started take what was learnt of those that block: how long they take says more
 *   about what the program does meanwhile.
 * - Nothing is learnt within a host or between sites, of small or short calls, where the user has
 *   named an algorithm, or where ranks know different sizes. Of
 *   reductions, whose last bits differ from algorithm to algorithm, only if COLL_LEARN=all says so.
 */
#ifndef COLL_LIB_OPERATION_LEARN_H
#define COLL_LIB_OPERATION_LEARN_H

#include "lib/base/comm.h"
#include "lib/operation/operations.h"
#include "lib/operation/select.h"

#include <stdbool.h>

/* Of what: COLL_LEARN. */
typedef enum coll_learn_what {
    COLL_LEARN_NOTHING,
    COLL_LEARN_MOVES, /* what moves data, and combines none */
    COLL_LEARN_ALL
} coll_learn_what;

/* What is being learnt of one operation and size class of a communicator. */
typedef struct coll_learning coll_learning;

/*
 * Before a blocking call of OPERATION like CALL, of which something is still to be learnt, and for
 * which *CHOICE was predicted: sets that to what is to run. Where *TRIAL isn't NULL then,
 * coll_learn_end must follow. Errors leave COMM broken.
 */
int coll_learn_begin(coll_comm *comm, coll_operation operation, const coll_shape *call,
                     coll_choice *choice, coll_learning **trial);

/* The call was through after SECONDS. Never waits. */
int coll_learn_end(coll_learning *trial, double seconds);

/*
 * Returns whether nothing is left to be learnt of such calls, and puts what they run into *CHOICE,
 * which was predicted: that, or what was learnt.
 */
bool coll_learn_settled(const coll_comm *comm, coll_operation operation, const coll_shape *call,
                        coll_choice *choice);

/* Puts what was learnt into *CHOICE, of a call that is started, where that can be started. */
void coll_learn_started(const coll_comm *comm, coll_operation operation, const coll_shape *call,
                        coll_choice *choice);

/* Puts what was learnt, as far as this rank knows, into *CHOICE, for who explains it. */
void coll_learn_tell(const coll_comm *comm, coll_operation operation, const coll_shape *call,
                     coll_choice *choice);

/* What it keeps with every communicator. */
extern coll_comm_key coll_learn_key;

#endif
