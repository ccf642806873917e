/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hangs in calls whose partners differ by rank:
 *
 *   partners ring    each rank sends to the next one
 *   partners wait    each rank waits for requests to receive from its neighbours
 *   partners reduce  all but the last rank wait for an MPI_Iallreduce
 *   partners mprobe  all ranks wait for the one before, which has sent another message; MPI_Mprobe
 *                    has taken that
 *   partners improbe  the same with MPI_Improbe
 *   partners start   each rank waits for a message from the one before, which starts no request
 *
 * Or is slow, and does not hang, because the last rank computes for 2 seconds:
 *
 *   partners barrier   the others wait in MPI_Barrier
 *   partners master    rank 0 waits for results from any rank, and the others for work from rank 0
 *   partners receiver  the others wait for a message from it
 *
 * Or is correct:
 *
 *   partners dups      all ranks make more communicators than a table of the watcher has room for
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

static void match_probe(int next, int before, int blocks) {
    MPI_Message message;
    MPI_Request request;
    int found = 0;
    MPI_Isend(big, 1, MPI_CHAR, next, 1, MPI_COMM_WORLD, &request);
    if (blocks)
        MPI_Mprobe(before, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    while (!blocks && !found)
        MPI_Improbe(before, 1, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(big + 1, 1, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(big + 1, 1, MPI_CHAR, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void start_none(int next, int before) {
    MPI_Request send, receive;
    MPI_Send_init(big, 1, MPI_CHAR, next, 3, MPI_COMM_WORLD, &send);
    MPI_Irecv(big + 1, 1, MPI_CHAR, before, 3, MPI_COMM_WORLD, &receive);
    MPI_Startall(0, &send);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
}

static void reduce(int arrives) {
    MPI_Request request;
    double mine = 1, most;
    while (!arrives)
        sleep(1);
    MPI_Iallreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Gives work to one rank alone, which has told a status before it has a result. */
static void master(int rank, int size) {
    enum { RESULT = 1, STATUS, WORK };
    if (rank == size - 1) {
        MPI_Send(big, 1, MPI_CHAR, 0, STATUS, MPI_COMM_WORLD);
        sleep(2);
        MPI_Send(big, 1, MPI_CHAR, 0, RESULT, MPI_COMM_WORLD);
    } else if (rank > 0) {
        MPI_Recv(big, 1, MPI_CHAR, 0, WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(big, 1, MPI_CHAR, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(big, 1, MPI_CHAR, size - 1, STATUS, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int to = 1; to < size - 1; to++)
            MPI_Send(big, 1, MPI_CHAR, to, WORK, MPI_COMM_WORLD);
    }
}

static void receiver(int rank, int size) {
    if (rank < size - 1) {
        MPI_Recv(big, 1, MPI_CHAR, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    sleep(2);
    for (int to = 0; to < size - 1; to++)
        MPI_Send(big, 1, MPI_CHAR, to, 0, MPI_COMM_WORLD);
}

static void barrier(int rank, int size) {
    if (rank == size - 1)
        sleep(2);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void dups(void) {
    enum { DUPS = 600 };
    MPI_Comm comm;
    for (int i = 0; i < DUPS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* is not freed */
        MPI_Barrier(comm);
    }
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
    else if (strcmp(way, "mprobe") == 0 || strcmp(way, "improbe") == 0)
        match_probe(next, before, way[0] == 'm');
    else if (strcmp(way, "start") == 0)
        start_none(next, before);
    else if (strcmp(way, "barrier") == 0)
        barrier(rank, size);
    else if (strcmp(way, "master") == 0)
        master(rank, size);
    else if (strcmp(way, "receiver") == 0)
        receiver(rank, size);
    else if (strcmp(way, "dups") == 0)
        dups();
    MPI_Finalize();
    return 0;
}
