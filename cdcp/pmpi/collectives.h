/* Which of the program's collectives libcoll's algorithms run. */
#ifndef COLL_CDCP_PMPI_COLLECTIVES_H
#define COLL_CDCP_PMPI_COLLECTIVES_H

#include "lib/operation/operations.h"

#include <stdbool.h>

/* What the user asks for, the same on all ranks. Set at MPI_Init; nothing before. */
extern bool coll_routed[COLL_OPERATIONS];

#endif
