/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of the program that libcoll's algorithms run. */
#ifndef COLL_CDCP_PMPI_COLLECTIVES_H
#define COLL_CDCP_PMPI_COLLECTIVES_H

#include "lib/algorithm/operations.h"

#include <stdbool.h>

/* Set at MPI_Init as the user asks, the same on all ranks. All false before. */
extern bool coll_routed[COLL_OPERATIONS];

#endif
