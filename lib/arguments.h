/* What the public entries check of their arguments: those of this rank alone. */
#ifndef COLL_LIB_ARGUMENTS_H
#define COLL_LIB_ARGUMENTS_H

#include "lib/base/blocks.h"
#include "lib/base/comm.h"

#include <mpi.h>

/* Errors: MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE and MPI_ERR_ROOT, not raised. */
int coll_check_bcast(const void *buffer, MPI_Count count, MPI_Datatype type, int root, int ranks);

/* The same; arguments that don't count at this rank may be anything. */
int coll_check_gather(const void *buffer, MPI_Count count, MPI_Datatype type,
                      const coll_blocks_layout *layout, int root, const coll_comm *comm);

/* Whether BYTES of a gather's root fit into its block: else MPI_ERR_TRUNCATE, not raised. */
int coll_check_own(size_t bytes, size_t block);

/* The error of counts that an operation of the MPI library's own can't take; not raised. */
int coll_too_many(void);

/*
 * LAYOUT's counts and displacements as the ints of MPI_Gatherv to ROOT on COMM, where this rank
 * needs them: *COUNTS, the caller's to free, and *PLACES in it. Errors: MPI_ERR_COUNT where they,
 * or SEND_COUNT, are too large, and MPI_ERR_NO_MEM; not raised.
 */
int coll_int_counts(const coll_blocks_layout *layout, MPI_Count send_count, int root, MPI_Comm comm,
                    int **counts, int **places);

#endif
