/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes and frees communicators, of which some are used, and calls MPI_Comm_idup while other
 * collectives run. Fails if they leave memory, or numbers of communicators, behind.
 */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BEFORE = 200, DUPS = 2000, BYTES = 4096, LEFT = 160 << 10 };

static char data[BYTES];

/* Uses a communicator. Every second one is freed while it has a complete request. */
static void use(MPI_Comm comm, int number) {
    MPI_Request request;
    MPI_Bcast(data, BYTES, MPI_BYTE, 0, comm);
    if (number % 20 == 0) {
        MPI_Ibcast(data, BYTES, MPI_BYTE, 0, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Makes a duplicate while its parent, and another duplicate, are busy. */
static void make_meanwhile(void) {
    MPI_Comm other, made;
    MPI_Request requests[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Barrier(other);
    MPI_Comm_idup(other, &made, &requests[0]);
    MPI_Bcast(data, BYTES, MPI_BYTE, 0, other);
    MPI_Iallreduce(MPI_IN_PLACE, data, BYTES, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD, &requests[1]);
    MPI_Bcast(data, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Bcast(data, BYTES, MPI_BYTE, 0, made);
    MPI_Comm_free(&made);
    MPI_Comm_free(&other);
}

static void make(int count) {
    for (int i = 0; i < count; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (i % 10 == 0)
            use(comm, i);
        MPI_Comm_free(&comm);
    }
    for (int i = 0; i < count / 100; i++)
        make_meanwhile();
}

static size_t in_use(void) {
    return mallinfo2().uordblks;
}

static MPI_Fint next_handle(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Fint handle = MPI_Comm_c2f(comm);
    MPI_Comm_free(&comm);
    return handle;
}

int main(int argc, char **argv) {
    int rank, bad, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    make(BEFORE);
    size_t before = in_use();
    MPI_Fint handle = next_handle();
    make(DUPS);
    size_t after = in_use();
    bad = after > before + LEFT || next_handle() != handle;
    if (bad)
        printf("rank %d: %zu bytes before, %zu after, handles %d and %d\n", rank, before, after,
               (int)handle, (int)next_handle());
    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return all;
}
