/* The reduces; lib/registry.c has the table of them all. */
#ifndef COLL_LIB_REDUCE_REDUCE_H
#define COLL_LIB_REDUCE_REDUCE_H

#include "lib/algorithm/algorithm.h"

extern const coll_algorithm coll_reduce_chain, coll_reduce_two_tree, coll_reduce_binomial;

/* In no table: as MPI libraries do it (binomial.c); the flat one of few ranks. */
extern const coll_algorithm coll_reduce_usual_line, coll_reduce_usual_binary,
    coll_reduce_usual_flat;

#endif
