/* The reduce_scatters; lib/registry.c has the table of them all. */
#ifndef COLL_LIB_REDUCE_SCATTER_REDUCE_SCATTER_H
#define COLL_LIB_REDUCE_SCATTER_REDUCE_SCATTER_H

#include "lib/algorithm/algorithm.h"

extern const coll_algorithm coll_reduce_scatter_ring, coll_reduce_scatter_circulant,
    coll_reduce_scatter_pairwise;

/* In no table: as MPI libraries do it (usual.c). */
extern const coll_algorithm coll_reduce_scatter_usual_halving, coll_reduce_scatter_usual_butterfly;

#endif
