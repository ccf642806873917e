/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that COLL_Set applies to MPI's calls, also after the first ones. */
#include <coll.h>
#include <mpi.h>

static int broadcast(int root) {
    int value = root + 1, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != root)
        value = 0;
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    return value != root + 1;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int wrong = broadcast(0);
    COLL_Set(MPI_COMM_WORLD, "bcast", "chain");
    wrong += broadcast(1);
    COLL_Set(MPI_COMM_WORLD, "bcast", "binomial");
    wrong += broadcast(0);
    COLL_Set(MPI_COMM_WORLD, "bcast", "native");
    wrong += broadcast(1);
    MPI_Finalize();
    return wrong;
}
