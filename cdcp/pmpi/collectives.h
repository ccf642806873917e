/* Which of the program's collectives libcoll's algorithms run. */
#ifndef COLL_CDCP_PMPI_COLLECTIVES_H
#define COLL_CDCP_PMPI_COLLECTIVES_H

#include <stdbool.h>

typedef struct coll_routing {
    bool bcast, gather;
} coll_routing;

/* What the user asks for, the same on all ranks. Set at MPI_Init; nothing before. */
extern coll_routing coll_routed;

#endif
