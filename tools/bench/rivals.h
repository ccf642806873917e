/*
 * Open MPI's own collectives by forced settings, in the same run: its tuned component reads the
 * forced algorithm and segment size when a communicator is made, and MPI_T can change them between
 * two.
 */
#ifndef COLL_TOOLS_BENCH_RIVALS_H
#define COLL_TOOLS_BENCH_RIVALS_H

#include "tools/bench/operation.h"

/* Prepares the environment of this process; call it before MPI_Init. */
void rivals_prepare(void);

/*
 * Adds a contender for each forced algorithm of Open MPI, and segment size, and the nonblocking
 * operation. Under another MPI library only the latter.
 */
int rivals_add(contender_list *list, const operation *op, MPI_Comm comm);

#endif
