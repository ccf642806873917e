/* SPDX-License-Identifier: BSD-3-Clause */
/* The reduce_scatter algorithms; their table is in lib/api/registry.c. */
#ifndef COLL_LIB_REDUCE_SCATTER_REDUCE_SCATTER_H
#define COLL_LIB_REDUCE_SCATTER_REDUCE_SCATTER_H

#include "lib/algorithm/algorithm.h"

extern const coll_algorithm coll_reduce_scatter_ring, coll_reduce_scatter_circulant,
    coll_reduce_scatter_pairwise, coll_reduce_scatter_multi_leader;

/* Not in the table: the algorithms of MPI libraries, for predictions (usual.c). */
extern const coll_algorithm coll_reduce_scatter_usual_halving, coll_reduce_scatter_usual_butterfly;

#endif
