/* SPDX-License-Identifier: BSD-3-Clause */
/* The number of threads that a rank should use. */
#ifndef COLL_KMEANS_ASSIGN_THREADS_H
#define COLL_KMEANS_ASSIGN_THREADS_H

#include "app/agreement.h"

/*
 * Sets *THREADS to this rank's share of the processors it may use, with each processor divided
 * among the ranks of COMM on the node that may use it; at least 1. Collective; on false all ranks
 * have the same problem.
 */
bool km_default_threads(MPI_Comm comm, int *threads, app_problem *problem);

#endif
