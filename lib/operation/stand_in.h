/*
 * What the MPI library's own collectives take: priced as what Open MPI runs by default, which is
 * one of our algorithms or much like it, in the order of the ranks.
 */
#ifndef COLL_LIB_OPERATION_STAND_IN_H
#define COLL_LIB_OPERATION_STAND_IN_H

#include "lib/algorithm/algorithm.h"

/* Seconds of CALL; as coll_estimate says. */
double coll_stand_in_quote(const coll_shape *call);

#endif
