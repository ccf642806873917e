/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates of the MPI library's own collectives: the estimate of the algorithm that Open MPI runs
 * by default, which is an algorithm of libcoll or similar to one, with the ranks in numerical
 * order.
 */
#ifndef COLL_LIB_TUNING_OMPI_DECISION_TABLE_H
#define COLL_LIB_TUNING_OMPI_DECISION_TABLE_H

#include "lib/algorithm/algorithm.h"

/* What Open MPI runs by default. */
typedef struct coll_native_default {
    const coll_algorithm *algorithm; /* NULL: a reduce to rank 0, and then a scatter */
    coll_values values;
    double factor;      /* by which the call takes longer than the estimate, as packets are lost */
    coll_passes passes; /* of ALGORITHM if it passes whole blocks on, as in Open MPI */
} coll_native_default;

/* Returns what Open MPI runs for CALL, which must not be a neighbourhood collective. Plans for it
 * must arrange the ranks in numerical order, with rank 0 as the root. */
coll_native_default coll_native_find(const coll_shape *call);

/* Returns the estimated seconds of CALL by the MPI library's own algorithm. The rules are those of
 * coll_estimate. */
double coll_native_estimate(const coll_shape *call);

#endif
