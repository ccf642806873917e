/* Rivals of libcoll's algorithms: Open MPI's own by forced settings. */
#ifndef COLL_TOOLS_BENCH_RIVALS_H
#define COLL_TOOLS_BENCH_RIVALS_H

#include "tools/bench/operation.h"

/* Prepares the environment of this process for rivals_add; call it before MPI_Init. */
void rivals_prepare(void);

/*
 * Adds a contender for each forced algorithm of Open MPI, and segment size, and the nonblocking
 * operation; under another MPI library only the latter. All are for the same run: Open MPI's tuned
 * component reads the forced settings when a communicator is made, and MPI_T can change them
 * between two.
 */
int rivals_add(contender_list *list, const operation *op, MPI_Comm comm);

#endif
