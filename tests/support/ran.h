/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks which algorithm ran, because a test that names one must notice if another has run instead.
 */
#ifndef COLL_TESTS_SUPPORT_RAN_H
#define COLL_TESTS_SUPPORT_RAN_H

#include "lib/algorithm/algorithm.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Returns whether ALGORITHM can run a call of BYTES with ROOT on COMM; COLL_BYTES_UNKNOWN means a
 * gatherv. Collective on COMM's first use.
 */
bool can_run(MPI_Comm comm, const coll_algorithm *algorithm, size_t bytes, int root);

/*
 * Fails unless the algorithm and the values in SPEC ran the last "bcast" or "gather" of BYTES on
 * COMM. Asserts nothing for "auto", if the algorithm can't run there, or if nothing had to be sent:
 * no bytes, or one rank.
 */
void assert_ran(MPI_Comm comm, const char *operation, size_t bytes, const char *spec);

/*
 * Returns true unless COMM sets an algorithm that can run the call, and the call ran another one.
 */
bool ran_as_told(MPI_Comm comm, const char *operation, size_t bytes, int root);

/*
 * Returns a duplicate of COMM on which ALGORITHM can run broadcasts: its ranks are on imagined
 * sites if the algorithm needs sites and there are enough ranks.
 */
MPI_Comm dup_for(MPI_Comm comm, const coll_algorithm *algorithm);

#endif
