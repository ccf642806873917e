/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is linked with libcoll_pmpi instead of preloading it, so that sanitizers can check it: one
 * dedicated processor serves the other ranks, and no request, handler or attribute is left. With
 * --ranks it prints the rank counts at which tests/support/launch runs it.
 */
#include "config.h"

#include "tests/interposed/persistent.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PENDING = 40 };

static int rank, ranks, errors_seen;

static void expect(bool good, const char *what) {
    if (good)
        return;
    fprintf(stderr, "linked: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/*
 * Starts sums of 1 to PENDING times the number of ranks, together with a message to this rank
 * itself.
 */
static void start(int ones[], int sums[], int *received, MPI_Request requests[PENDING + 2]) {
    for (int i = 0; i < PENDING; i++) {
        ones[i] = i + 1;
        MPI_Iallreduce(&ones[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    }
    *received = -1;
    MPI_Irecv(received, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[PENDING]);
    MPI_Isend(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[PENDING + 1]);
}

static void check(const int sums[], int received) {
    for (int i = 0; i < PENDING; i++)
        expect(sums[i] == (i + 1) * ranks, "a wrong sum");
    expect(received == rank, "a wrong message");
}

static void arrays(void) {
    int ones[PENDING], sums[PENDING], received, index = 0, some, indices[PENDING + 2];
    MPI_Request requests[PENDING + 2];
    start(ones, sums, &received, requests);
    MPI_Waitall(PENDING + 2, requests, MPI_STATUSES_IGNORE);
    check(sums, received);
    start(ones, sums, &received, requests);
    while (index != MPI_UNDEFINED)
        MPI_Waitany(PENDING + 2, requests, &index, MPI_STATUS_IGNORE);
    check(sums, received);
    start(ones, sums, &received, requests);
    do
        MPI_Waitsome(PENDING + 2, requests, &some, indices, MPI_STATUSES_IGNORE);
    while (some != MPI_UNDEFINED);
    check(sums, received);
}

static void persistent(void) {
    int one = 1, sum;
    MPI_Request request;
    ALLREDUCE_INIT(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; i++) {
        sum = 0;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(sum == ranks, "a wrong persistent sum");
    }
    MPI_Request_free(&request);
    expect(request == MPI_REQUEST_NULL, "a request is left");
}

static void on_error(MPI_Comm *comm, int *code, ...) {
    errors_seen += *comm == MPI_COMM_WORLD && *code != MPI_SUCCESS;
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)keyval, (void)value, (void)extra;
    expect(comm == MPI_COMM_WORLD, "an attribute of another communicator");
    return MPI_SUCCESS;
}

static void callbacks(void) {
    MPI_Errhandler handler;
    int keyval;
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Send(&ranks, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD);
    expect(errors_seen == 1, "the error handler does not see the world");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL); /* MPI_Finalize deletes this attribute */
    MPI_Comm_free_keyval(&keyval);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--ranks") == 0) {
        puts("2 5 free:3");
        return 0;
    }
    setenv("COLL_DCP", "1", 1);
    const char *launched = getenv("OMPI_COMM_WORLD_SIZE");
    launched = launched ? launched : getenv("PMI_SIZE"); /* MPICH */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    expect(launched && ranks == atoi(launched) - 1, "the world has another size");
    arrays();
    persistent();
    callbacks();
    MPI_Finalize();
    return 0;
}
