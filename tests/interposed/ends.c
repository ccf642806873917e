/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends in different ways, and uses other things that must belong to the program. `ends atexit`
 * leaves MPI_Finalize to atexit. In `ends stdin` rank 0 prints its standard input. In `ends abort
 * R` rank R aborts while the others wait. `ends sleep` prints its process number and waits to be
 * killed. In `ends mismatch` the last rank calls another collective than the others.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void finalize(void) {
    int sum, one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d finalizes, sum %d\n", rank, sum);
    fflush(stdout); /* Hydra may discard the output of a program that ends like this */
    MPI_Finalize();
}

static void call_another(void) {
    int ranks, one[64] = {1}, result[64];
    MPI_Request request;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == ranks - 1)
        MPI_Ialltoall(one, 1, MPI_INT, result, 1, MPI_INT, MPI_COMM_WORLD, &request);
    else
        MPI_Iallreduce(one, result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "atexit") == 0)
        atexit(finalize); /* dedicated processors must not reach this line */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(how, "atexit") == 0)
        return 0;

    char line[100]; /* Hydra leaves the input of other ranks open */
    while (strcmp(how, "stdin") == 0 && rank == 0 && fgets(line, sizeof line, stdin))
        printf("rank %d read %s", rank, line);
    if (strcmp(how, "sleep") == 0) {
        printf("pid %d\n", (int)getpid());
        fflush(stdout);
        pause();
    }
    if (strcmp(how, "abort") == 0) {
        if (argc > 2 && rank == atoi(argv[2]))
            MPI_Abort(MPI_COMM_WORLD, 3);
        pause();
    }
    if (strcmp(how, "mismatch") == 0)
        call_another();
    MPI_Finalize();
    return 0;
}
