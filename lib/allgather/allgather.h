/* The allgathers; lib/registry.c has the table of them all. */
#ifndef COLL_LIB_ALLGATHER_ALLGATHER_H
#define COLL_LIB_ALLGATHER_ALLGATHER_H

#include "lib/algorithm/algorithm.h"

extern const coll_algorithm coll_allgather_ring, coll_allgather_sparbit, coll_allgather_bruck;

/* In no table: as MPI libraries do it (usual.c). */
extern const coll_algorithm coll_allgather_usual_doubling, coll_allgather_usual_neighbors;

#endif
