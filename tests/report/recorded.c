/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose calls are recorded: ROUNDS of collectives of BYTES on MPI_COMM_WORLD and on its
 * even ranks, and messages of BYTES to the next rank and to the one WIDTH further, if that is more
 * than 0; if it is less, neighbourhood collectives. If ROUNDS is negative, it makes no other
 * collectives. It prints the seconds in collectives, the mean of the ranks, and those in messages.
 *
 *     recorded ROUNDS BYTES [WIDTH]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double in_collectives, in_messages;

/* Adds the time of CALL to SUM. */
#define TIMED(sum, call)                                                                           \
    do {                                                                                           \
        const double began = MPI_Wtime();                                                          \
        call;                                                                                      \
        sum += MPI_Wtime() - began;                                                                \
    } while (0)

static void call_collectives(int round, int rank, int ranks, MPI_Comm half, int bytes, char *send,
                             char *receive) {
    int counts[1024], places[1024];
    for (int i = 0; i < ranks; i++) {
        counts[i] = i % 2 ? bytes / ranks : bytes / ranks / 2;
        places[i] = i * (bytes / ranks);
    }
    TIMED(in_collectives, MPI_Bcast(send, bytes, MPI_CHAR, round % ranks, MPI_COMM_WORLD));
    TIMED(in_collectives,
          MPI_Allreduce(send, receive, bytes / 8, MPI_LONG, MPI_MAX, MPI_COMM_WORLD));
    TIMED(in_collectives, MPI_Allgatherv(send, counts[rank], MPI_CHAR, receive, counts, places,
                                         MPI_CHAR, MPI_COMM_WORLD));
    TIMED(in_collectives, MPI_Barrier(MPI_COMM_WORLD));
    TIMED(in_collectives, MPI_Alltoall(send, bytes / ranks, MPI_CHAR, receive, bytes / ranks,
                                       MPI_CHAR, MPI_COMM_WORLD));
    if (half != MPI_COMM_NULL)
        TIMED(in_collectives, MPI_Reduce(send, receive, bytes / 8, MPI_LONG, MPI_MAX, 0, half));
}

/* Sends BYTES to the ranks to the right and below, and receives from the others. */
static void exchange(int rank, int ranks, int width, int bytes, const char *send, char *receive) {
    const int step[] = {1, width};
    for (int i = 0; i < 2 && width > 0; i++)
        TIMED(in_messages, MPI_Sendrecv(send, bytes, MPI_CHAR, (rank + step[i]) % ranks, 0, receive,
                                        bytes, MPI_CHAR, (rank - step[i] + ranks) % ranks, 0,
                                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Exchanges blocks of BYTES with the neighbours in RING, and then of a size for each. */
static void exchange_in(MPI_Comm ring, int bytes, const char *send, char *receive) {
    const int counts[] = {bytes / 2, bytes / 2}, places[] = {0, bytes};
    MPI_Neighbor_alltoall(send, bytes, MPI_CHAR, receive, bytes, MPI_CHAR, ring);
    MPI_Neighbor_allgatherv(send, bytes / 2, MPI_CHAR, receive, counts, places, MPI_CHAR, ring);
    MPI_Neighbor_alltoallv(send, counts, places, MPI_CHAR, receive, counts, places, MPI_CHAR, ring);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int calls = argc > 2 ? atoi(argv[1]) : 0, bytes = argc > 2 ? atoi(argv[2]) : 0,
              width = argc > 3 ? atoi(argv[3]) : 0;
    int rank, ranks;
    MPI_Comm half, ring;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : 0, rank, &half);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &(int){1}, 0, &ring);
    char *send = calloc((size_t)bytes + 8, 2), *receive = calloc((size_t)bytes + 8, 2);
    if (!send || !receive || ranks > 1024)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int round = 0; round < abs(calls); round++) {
        if (calls > 0)
            call_collectives(round, rank, ranks, half, bytes, send, receive);
        exchange(rank, ranks, width, bytes, send, receive);
        if (width < 0)
            exchange_in(ring, bytes, send, receive);
    }
    const double own[] = {in_collectives, in_messages};
    double sums[2];
    MPI_Reduce(own, sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.6f %.6f\n", sums[0] / ranks, sums[1] / ranks);
    free(send);
    free(receive);
    if (half != MPI_COMM_NULL)
        MPI_Comm_free(&half);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
