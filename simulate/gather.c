/*
 * gather SPEC BYTES: one COLL_Gather by SPEC ("window") of BYTES from each rank to rank 0. Prints
 * the simulated seconds until rank 0 has them all.
 */
#include "simulate/clock.h"

#include <coll.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 3)
        clock_fail("usage: gather SPEC BYTES");
    int rank, ranks;
    size_t bytes = (size_t)strtod(argv[2], NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *mine = calloc(bytes, 1), *all = malloc((size_t)ranks * bytes);
    for (size_t i = 0; i < bytes; i++)
        mine[i] = (char)(rank + 1);
    if (COLL_Set(MPI_COMM_WORLD, "gather", argv[1]) != MPI_SUCCESS)
        clock_fail("gather: bad SPEC");
    COLL_Gather(mine, 1, MPI_BYTE, all, 1, MPI_BYTE, 0,
                MPI_COMM_WORLD); /* learns about the ranks */

    double start = clock_start_together(), seconds;
    int code = COLL_Gather(mine, (MPI_Count)bytes, MPI_BYTE, all, (MPI_Count)bytes, MPI_BYTE, 0,
                           MPI_COMM_WORLD);
    for (size_t i = 0; rank == 0 && i < (size_t)ranks * bytes; i++)
        if (all[i] != (char)(i / bytes + 1))
            code = MPI_ERR_OTHER;
    if (code != MPI_SUCCESS)
        clock_fail("gather: the gather failed");
    seconds = MPI_Wtime() - start;
    if (rank == 0)
        printf("seconds %.9f\n", seconds);
    free(mine);
    free(all);
    MPI_Finalize();
    return 0;
}
