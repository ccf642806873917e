/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of the program that libcoll's algorithms run. */
#ifndef COLL_CDCP_PMPI_COLLECTIVES_H
#define COLL_CDCP_PMPI_COLLECTIVES_H

#include "lib/algorithm/operations.h"

#include <stdbool.h>

/* Set at MPI_Init as the user asks, the same on all ranks. All false before. */
extern bool coll_routed[COLL_OPERATIONS];

/* Returns whether any element of ROUTED is true. */
static inline bool coll_routes_any(const bool routed[COLL_OPERATIONS]) {
    int operation = 0;
    while (operation < COLL_OPERATIONS && !routed[operation])
        operation++;
    return operation < COLL_OPERATIONS;
}

#endif
