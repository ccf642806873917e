/* SPDX-License-Identifier: BSD-3-Clause */
/* The allgather algorithms; their table is in lib/api/registry.c. */
#ifndef COLL_LIB_ALLGATHER_ALLGATHER_H
#define COLL_LIB_ALLGATHER_ALLGATHER_H

#include "lib/algorithm/algorithm.h"

extern const coll_algorithm coll_allgather_ring, coll_allgather_sparbit, coll_allgather_bruck,
    coll_allgather_multi_leader;

/* Not in the table: the algorithms of MPI libraries, for predictions (usual.c). */
extern const coll_algorithm coll_allgather_usual_doubling, coll_allgather_usual_neighbors;

#endif
