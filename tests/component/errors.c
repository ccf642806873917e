/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests that an error reaches the handler of the program's communicator once, whichever part finds
 * it: in the call, or in the wait for a request. Prints how often the handler was called for each
 * error, and with which class.
 *
 *   errors         wrong arguments, the same on all ranks
 *   errors late    a rank that is late, with COLL_TIMEOUT
 */
#include "tests/component/persistent.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MANY = 100000 };

static int calls, last, rank;
static int from[MANY], to[MANY];

static void handle(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    calls++;
    last = *code;
}

static void say(const char *what, int code) {
    int class = MPI_SUCCESS, handled = MPI_SUCCESS;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_class(code, &class);
    MPI_Error_class(last, &handled);
    MPI_Error_string(code, text, &length);
    printf("%d: %s: %d call%s, class %d, handled %d: %s\n", rank, what, calls,
           calls == 1 ? "" : "s", class, handled, text);
    calls = 0;
    last = MPI_SUCCESS;
}

/* Every rank sends itself more than it expects to receive from itself. */
static void wrong_arguments(MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Barrier(comm);
    say("alltoall", MPI_Alltoall(from, 2, MPI_INT, to, 1, MPI_INT, comm));
    say("ialltoall", MPI_Ialltoall(from, 2, MPI_INT, to, 1, MPI_INT, comm, &request));
    say("alltoall_init",
        INIT(Alltoall)(from, 2, MPI_INT, to, 1, MPI_INT, comm, MPI_INFO_NULL, &request));
    int good = MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, comm);
    say("afterwards", good);
}

/*
 * Rank 0 waits for a rank that never calls. Open MPI 4.1 passes errors of collective requests to
 * the handler of MPI_COMM_WORLD.
 */
static void late(MPI_Comm comm) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Barrier(comm);
    if (rank == 0) {
        MPI_Ibcast(to, MANY, MPI_INT, 1, comm, &request);
        say("ibcast", MPI_Wait(&request, MPI_STATUS_IGNORE));
        printf("0: the request is %s\n", request == MPI_REQUEST_NULL ? "gone" : "left");
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    sleep(60);
}

int main(int argc, char **argv) {
    MPI_Errhandler handler;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (argc > 1 && strcmp(argv[1], "late") == 0)
        late(comm);
    else
        wrong_arguments(comm);
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&handler);
    MPI_Finalize();
    return 0;
}
