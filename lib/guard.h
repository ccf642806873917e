/*
 * COLL_GUARD=1: on the first use of an operation at a size class on a communicator, the chooser's
 * pick runs beside the MPI library's own, and what is faster runs from then on.
 */
#ifndef COLL_LIB_GUARD_H
#define COLL_LIB_GUARD_H

#include "lib/comm.h"
#include "lib/select.h"

/* Runs CALL by ALGORITHM; it must bear being run several times over. */
typedef int coll_guard_run(const void *call, const coll_algorithm *algorithm,
                           const coll_values *values);

/*
 * Compares *CHOICE with the operation's first algorithm, its native one, by running each three
 * times on CALL's own data, by turns; the first run of each makes connections and doesn't count,
 * and of the others the faster one does, by the clock of its slowest rank. Where native takes less
 * than 1 / 1.05 of the choice's time, it becomes *CHOICE; why says so either way. Collective, all
 * ranks agree; a class of sizes is from one power of two to the next. Afterwards, and where the
 * user named the algorithm or native is chosen anyway, it only answers from memory. *DONE: the data
 * has been moved. COLL_TEST_SLOW, for tests, names an algorithm that seems slow.
 */
int coll_guard(coll_comm *comm, coll_operation operation, size_t bytes, coll_guard_run *run,
               const void *call, coll_choice *choice, bool *done);

#endif
