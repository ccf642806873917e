/* The allreduces; lib/registry.c has the table of them all. */
#ifndef COLL_LIB_ALLREDUCE_ALLREDUCE_H
#define COLL_LIB_ALLREDUCE_ALLREDUCE_H

#include "lib/algorithm/algorithm.h"

extern const coll_algorithm coll_allreduce_ring, coll_allreduce_racks,
    coll_allreduce_recursive_doubling, coll_allreduce_halving, coll_allreduce_circulant,
    coll_allreduce_two_level, coll_allreduce_three_level, coll_allreduce_chain,
    coll_allreduce_binomial;

#endif
