/*
 * bcast SPEC BYTES [verify]: one COLL_Bcast by SPEC ("chain:window=4"), or MPI_Bcast where SPEC is
 * "mpi", from rank 0 to all others. Prints the simulated seconds until the last rank has the data.
 * With "verify" it also checks the data, which works only where ranks don't share buffers.
 */
#include "simulate/clock.h"

#include <coll.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MPI_Bcast takes its count as an int. */
enum { PART_MOST = 1 << 30 };

static int broadcast(const char *spec, char *data, size_t bytes) {
    int code = MPI_SUCCESS;
    if (strcmp(spec, "mpi") != 0)
        return COLL_Bcast(data, (MPI_Count)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (size_t at = 0; at < bytes && code == MPI_SUCCESS; at += PART_MOST) {
        size_t part = bytes - at < PART_MOST ? bytes - at : PART_MOST;
        code = MPI_Bcast(data + at, (int)part, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    return code;
}

static char pattern(size_t i) {
    return (char)(i * 131 + i / 251 + 7);
}

static int is_whole(const char *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (data[i] != pattern(i))
            return 0;
    return 1;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc < 3)
        clock_fail("usage: bcast SPEC BYTES [verify]");
    const char *spec = argv[1];
    size_t bytes = (size_t)strtod(argv[2], NULL);
    int rank, verify = argc > 3;
    char *data = malloc(bytes);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; verify && i < bytes; i++)
        data[i] = rank == 0 ? pattern(i) : 0;
    if (strcmp(spec, "mpi") != 0 && COLL_Set(MPI_COMM_WORLD, "bcast", spec) != MPI_SUCCESS)
        clock_fail("bcast: bad SPEC");
    broadcast("mpi", data, 1);
    broadcast(spec, data, 1); /* the library's first call learns about the communicator */

    double start = clock_start_together(), seconds;
    if (broadcast(spec, data, bytes) != MPI_SUCCESS || (verify && !is_whole(data, bytes)))
        clock_fail("bcast: the broadcast failed");
    seconds = clock_longest(start);
    if (rank == 0)
        printf("seconds %.9f\n", seconds);
    free(data);
    MPI_Finalize();
    return 0;
}
