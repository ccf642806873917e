/* SPDX-License-Identifier: BSD-3-Clause */
/* Rivals of libcoll's algorithms: Open MPI's own, selected by forced settings. */
#ifndef COLL_TOOLS_BENCH_RIVALS_H
#define COLL_TOOLS_BENCH_RIVALS_H

#include "tools/bench/operation.h"

/* Prepares this process's environment for rivals_add; call it before MPI_Init. */
void rivals_prepare(void);

/*
 * Adds a contender for each algorithm of Open MPI that can be forced, with each segment size, one
 * for each of Open MPI's components han and adapt that implements OP, and one for the nonblocking
 * operation; with another MPI library only the last. All of them can be measured in the same run:
 * Open MPI's tuned component reads the forced settings when a communicator is created, and MPI_T
 * changes them in between.
 */
int rivals_add(contender_list *list, const operation *op, MPI_Comm comm);

#endif
