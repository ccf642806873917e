/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls COLL_Reduce_scatter, COLL_Alltoallv and COLL_Alltoallw once each. The block for rank i in
 * the first call, and the blocks from rank i in the others, have MORE * (i + 1) integers.
 * If the first call fails, as the record can't be opened, the program ends with status 1.
 *
 *     blocks MORE
 */
#include <coll.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 64 };

int main(int argc, char **argv) {
    MPI_Count sent[RANKS], received[RANKS], total = 0;
    MPI_Aint from[RANKS], to[RANKS], from_bytes[RANKS], to_bytes[RANKS];
    MPI_Datatype types[RANKS];
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int more = argc > 1 ? atoi(argv[1]) : 1;
    if (ranks > RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < ranks; i++) {
        sent[i] = more * (rank + 1);
        received[i] = more * (i + 1);
        from[i] = i * sent[i];
        to[i] = total;
        from_bytes[i] = from[i] * (MPI_Aint)sizeof(int);
        to_bytes[i] = to[i] * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
        total += received[i];
    }
    const size_t most = (size_t)ranks * (size_t)ranks * (size_t)more;
    int *send = calloc(most, sizeof *send), *receive = calloc(most, sizeof *receive);
    if (!send || !receive)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int code = COLL_Reduce_scatter(send, receive, received, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (code == MPI_SUCCESS) {
        COLL_Alltoallv(send, sent, from, MPI_INT, receive, received, to, MPI_INT, MPI_COMM_WORLD);
        COLL_Alltoallw(send, sent, from_bytes, types, receive, received, to_bytes, types,
                       MPI_COMM_WORLD);
    } else {
        printf("rank %d failed\n", rank);
        fflush(stdout);
    }
    free(send);
    free(receive);
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
