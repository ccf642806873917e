/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates of the MPI library's own collectives: the estimate of the algorithm that Open MPI runs
 * by default, which is one of libcoll's or similar to one, with the ranks in numerical order.
 */
#ifndef COLL_LIB_TUNING_OMPI_DECISION_TABLE_H
#define COLL_LIB_TUNING_OMPI_DECISION_TABLE_H

#include "lib/algorithm/algorithm.h"

/* Returns the estimated seconds of CALL, with the same rules as coll_estimate. */
double coll_native_estimate(const coll_shape *call);

#endif
