/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hangs in calls whose partners differ by rank:
 *
 *   partners ring    each rank sends to the next one
 *   partners wait    each rank waits for requests to receive from its neighbours
 *   partners reduce  all but the last rank wait for an MPI_Iallreduce
 */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static char big[1 << 22];

static void wait_for_neighbours(int next, int before) {
    MPI_Request requests[2];
    MPI_Irecv(big, 1, MPI_CHAR, next, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(big + 1, 1, MPI_CHAR, before, 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void reduce(int arrives) {
    MPI_Request request;
    double mine = 1, most;
    while (!arrives)
        sleep(1);
    MPI_Iallreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    const char *way = argc > 1 ? argv[1] : "";
    if (strcmp(way, "ring") == 0)
        MPI_Ssend(big, sizeof big, MPI_CHAR, next, 0, MPI_COMM_WORLD);
    else if (strcmp(way, "wait") == 0)
        wait_for_neighbours(next, before);
    else if (strcmp(way, "reduce") == 0)
        reduce(rank < size - 1);
    MPI_Finalize();
    return 0;
}
