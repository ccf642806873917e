/* Which algorithm ran: a test that names one must not be content with what ran in its stead. */
#ifndef COLL_TESTS_SUPPORT_RAN_H
#define COLL_TESTS_SUPPORT_RAN_H

#include "lib/algorithm/algorithm.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Whether ALGORITHM can run a call of BYTES from or to ROOT on COMM; COLL_BYTES_UNKNOWN stands for
 * a gatherv. Collective on COMM's first use.
 */
bool can_run(MPI_Comm comm, const coll_algorithm *algorithm, size_t bytes, int root);

/*
 * Fails unless the algorithm that SPEC names, with the values that it names, ran the last "bcast"
 * or "gather" of BYTES on COMM. Nothing is asserted of "auto", and where nothing had to be sent: no
 * bytes, or one rank.
 */
void assert_ran(MPI_Comm comm, const char *operation, size_t bytes, const char *spec);

/* Whether the last such call was run as COMM is set, if it is and such an algorithm can run it. */
bool ran_as_told(MPI_Comm comm, const char *operation, size_t bytes, int root);

/*
 * A duplicate of COMM on which ALGORITHM can run broadcasts: its ranks are on imagined sites where
 * the algorithm needs some and there are ranks enough.
 */
MPI_Comm dup_for(MPI_Comm comm, const coll_algorithm *algorithm);

#endif
