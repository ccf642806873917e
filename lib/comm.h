/*
 * What libcoll keeps for a user's communicator: a private duplicate, the places of its ranks,
 * settings and the way to wait. Made on first use, cached as an attribute, freed with the
 * communicator.
 */
#ifndef COLL_LIB_COMM_H
#define COLL_LIB_COMM_H

#include "lib/profile.h"
#include "lib/topo.h"
#include "lib/wait.h"

#include <mpi.h>

typedef enum coll_operation {
    COLL_OPERATION_BCAST,
    COLL_OPERATION_AGGREGATE,
    COLL_OPERATIONS
} coll_operation;

typedef struct coll_comm {
    MPI_Comm private; /* the duplicate; its errors return */
    int rank, ranks;
    coll_topo topo;
    const coll_profile *profile;
    coll_wait wait;
    char *specs[COLL_OPERATIONS]; /* the user's word for each operation, or NULL */
} coll_comm;

/*
 * The state of COMM, an intracommunicator. Collective on first use, when it is made. The state
 * belongs to COMM. Errors: those of topology, settings and memory, the same on every rank.
 */
int coll_comm_get(MPI_Comm comm, coll_comm **state);

#endif
