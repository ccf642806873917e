/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests/cli/unfinished.sh: calls MPI_Finalize while a broadcast is active on one rank. */
#include "config.h"

#include "coll.h"

#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv) {
    int rank, number = 0;
    MPI_Comm comm;
    COLL_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "ocean");
    COLL_Bcast(&number, 1, MPI_INT, 0, comm);
    if (rank == 1) /* rank 0 never sends */
        COLL_Ibcast(&number, 1, MPI_INT, 0, comm, &request);
    MPI_Finalize();
    return 0;
}
