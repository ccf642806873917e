/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests a late rank with COLL_TIMEOUT: the calls that wait for it fail, including those that the
 * MPI library runs itself. Rank 0 prints the error; then the job ends.
 *
 *   late CALL   rank 1 never makes CALL: allreduce, barrier, iallreduce, ibcast; small, an
 *               MPI_Iallreduce of an int; first, an MPI_Iallreduce before any other
 *               call
 *   late idup   MPI_Comm_idup is not libcoll's: it waits, and makes a communicator that works
 *   late type   an MPI_Ibcast that is in time, of a type that is freed at once
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MANY = 1000 };

static double from[MANY], to[MANY];
static int rank;

static int call(const char *name, MPI_Request *request) {
    static int one = 1, sum;
    if (strcmp(name, "allreduce") == 0)
        return MPI_Allreduce(from, to, MANY, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (strcmp(name, "barrier") == 0)
        return MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(name, "small") == 0)
        return MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
    if (strcmp(name, "ibcast") == 0)
        return MPI_Ibcast(to, MANY, MPI_DOUBLE, 1, MPI_COMM_WORLD, request);
    return MPI_Iallreduce(from, to, MANY, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

static void wait_in_vain(const char *name) {
    MPI_Request request = MPI_REQUEST_NULL;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    while (rank == 1)
        sleep(1);
    int code = call(name, &request);
    if (code == MPI_SUCCESS)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Error_string(code, text, &length);
    while (rank != 0) /* rank 0 ends the job */
        sleep(1);
    printf("%s: %s\n", name, code == MPI_SUCCESS ? "no error" : text);
    printf("the request is %s\n", request == MPI_REQUEST_NULL ? "gone" : "left");
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 0);
}

static void duplicate(void) {
    MPI_Request request;
    MPI_Comm copy, own = MPI_COMM_NULL;
    int one = 1, sum = 0, size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 1) { /* the lowest free number of a communicator differs on this rank */
        MPI_Comm_dup(MPI_COMM_SELF, &own);
        sleep(4);
    }
    int code = MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    if (code == MPI_SUCCESS)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
    if (rank == 0)
        printf("idup: %s\n", code == MPI_SUCCESS && sum == size ? "no error" : "wrong");
    MPI_Comm_free(&copy);
    if (own != MPI_COMM_NULL)
        MPI_Comm_free(&own);
}

static void free_type(void) {
    MPI_Datatype pair;
    MPI_Request request;
    int values[2] = {rank == 1, rank == 1};
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    int code = MPI_Ibcast(values, 1, pair, 1, MPI_COMM_WORLD, &request);
    MPI_Type_free(&pair);
    if (code == MPI_SUCCESS)
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("type: %s\n", code == MPI_SUCCESS && values[1] == 1 ? "no error" : "wrong");
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (strcmp(name, "type") == 0)
        free_type();
    else if (strcmp(name, "first") != 0)
        MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(name, "idup") == 0)
        duplicate();
    else if (strcmp(name, "type") != 0)
        wait_in_vain(name);
    MPI_Finalize();
    return 0;
}
