/* SPDX-License-Identifier: BSD-3-Clause */
/* The alltoall algorithms; their table is in lib/api/registry.c. */
#ifndef COLL_LIB_ALLTOALL_ALLTOALL_H
#define COLL_LIB_ALLTOALL_ALLTOALL_H

#include "lib/algorithm/algorithm.h"

extern const coll_algorithm coll_alltoall_pairwise, coll_alltoall_racks, coll_alltoall_bruck,
    coll_alltoall_linear, coll_alltoall_multi_leader, coll_alltoall_tuna;

#endif
