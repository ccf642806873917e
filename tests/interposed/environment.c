/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the launcher's variables that count ranks, and MPI's value if it differs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void compare(const char *name, int number) {
    const char *value = getenv(name);
    if (value && atoi(value) == number)
        printf("%s is %s\n", name, value);
    else if (value)
        printf("%s is %s, not %d\n", name, value, number);
}

int main(int argc, char **argv) {
    int rank, size, local_rank, local_size;
    MPI_Comm node;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &local_rank);
    MPI_Comm_size(node, &local_size);
    printf("rank %d of %d, on the node rank %d of %d\n", rank, size, local_rank, local_size);
    compare("OMPI_COMM_WORLD_RANK", rank);
    compare("PMI_RANK", rank);
    compare("OMPI_COMM_WORLD_SIZE", size);
    compare("PMI_SIZE", size);
    compare("OMPI_COMM_WORLD_LOCAL_RANK", local_rank);
    compare("OMPI_COMM_WORLD_NODE_RANK", local_rank);
    compare("MPI_LOCALRANKID", local_rank);
    compare("OMPI_COMM_WORLD_LOCAL_SIZE", local_size);
    compare("MPI_LOCALNRANKS", local_size);
    const char *universe = getenv("OMPI_UNIVERSE_SIZE");
    printf("%s slots\n", universe ? universe : "no");
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
