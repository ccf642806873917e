/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A first program: rank 0 broadcasts, every rank prints.
 *
 *     mpicc first.c $(pkg-config --cflags --libs coll) -o first
 *     mpirun -n 4 ./first
 */
#include <coll.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    char greeting[32] = "";
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        strcpy(greeting, "hello from rank 0");
    COLL_Bcast(greeting, sizeof greeting, MPI_CHAR, 0, MPI_COMM_WORLD);
    printf("rank %d: %s\n", rank, greeting);
    MPI_Finalize();
    return 0;
}
