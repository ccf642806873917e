/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes calls with wrong arguments, which the MPI library reports and nothing else may accept.
 * Every rank prints the classes of its errors, which are the same whatever runs its collectives.
 */
#include "tests/interposed/persistent.h"

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int rank, ranks, values[64], results[64];
static MPI_Datatype uncommitted;
static MPI_Request request;

static void say(const char *what, int code) {
    int class = code;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    printf("%d: %s: error class %d\n", rank, what, class);
    fflush(stdout); /* mpirun may divide a longer text and put other ranks' lines between */
    usleep(1000);
}

/* Prints the result of a call. MPI libraries return different classes for some errors. */
static void refuse(const char *what, int code) {
    printf("%d: %s: refused %d\n", rank, what, code != MPI_SUCCESS);
}

/* Makes an allreduce with every function that starts one. */
static void reduce(const char *what, const void *from, void *to, int count, MPI_Datatype type,
                   MPI_Op op, MPI_Comm comm) {
    printf("%d: allreduce, iallreduce, allreduce_init of %s\n", rank, what);
    say(what, MPI_Allreduce(from, to, count, type, op, comm));
    say(what, MPI_Iallreduce(from, to, count, type, op, comm, &request));
    say(what, ALLREDUCE_INIT(from, to, count, type, op, comm, MPI_INFO_NULL, &request));
}

static void reductions(MPI_Comm comm) {
    reduce("in place into in place", MPI_IN_PLACE, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm);
    reduce("a result in place", values, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm);
    reduce("its own buffer", values, values, 2, MPI_INT, MPI_SUM, comm);
    reduce("less than nothing", values, results, -1, MPI_INT, MPI_SUM, comm);
    reduce("no type", values, results, 1, MPI_DATATYPE_NULL, MPI_SUM, comm);
    reduce("an uncommitted type", values, results, 1, uncommitted, MPI_SUM, comm);
    reduce("no operation", values, results, 1, MPI_INT, MPI_OP_NULL, comm);
    reduce("an operation of other types", values, results, 1, MPI_DOUBLE, MPI_BAND, comm);
    reduce("no communicator", values, results, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL);
}

static void bcasts(MPI_Comm comm) {
    refuse("bcast in place", MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm));
    say("bcast of less than nothing", MPI_Bcast(values, -1, MPI_INT, 0, comm));
    say("bcast of no type", MPI_Bcast(values, 1, MPI_DATATYPE_NULL, 0, comm));
    say("bcast of an uncommitted type", MPI_Bcast(values, 1, uncommitted, 0, comm));
    say("bcast from beyond", MPI_Bcast(values, 1, MPI_INT, ranks, comm));
    say("bcast from before", MPI_Bcast(values, 1, MPI_INT, -1, comm));
    say("bcast of nothing from beyond", MPI_Bcast(values, 0, MPI_INT, ranks, comm));
    say("bcast to nobody", MPI_Bcast(values, 1, MPI_INT, 0, MPI_COMM_NULL));
    say("bcast as it should be", MPI_Bcast(values, 1, MPI_INT, 0, comm));
}

static void gathers(MPI_Comm comm) {
    MPI_Datatype none = MPI_DATATYPE_NULL;
    int *from = values, *to = results;
    say("gather of less than nothing", MPI_Gather(from, -1, MPI_INT, to, -1, MPI_INT, 0, comm));
    say("gather of no type", MPI_Gather(from, 1, none, to, 1, none, 0, comm));
    say("gather of an uncommitted type",
        MPI_Gather(from, 1, uncommitted, to, 1, uncommitted, 0, comm));
    say("gather beyond", MPI_Gather(from, 1, MPI_INT, to, 1, MPI_INT, ranks, comm));
    say("gather before", MPI_Gather(from, 1, MPI_INT, to, 1, MPI_INT, -1, comm));
    say("gather from nobody", MPI_Gather(from, 1, MPI_INT, to, 1, MPI_INT, 0, MPI_COMM_NULL));
    say("gather as it should be", MPI_Gather(from, 1, MPI_INT, to, 1, MPI_INT, 0, comm));
}

/* Makes calls that are wrong only at the root, for which no other rank waits. */
static void gathers_alone(MPI_Comm alone) {
    int *from = values, *to = results;
    refuse("gather into in place",
           MPI_Gather(from, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, alone));
    say("gather of less", MPI_Gather(from, 1, MPI_INT, to, -1, MPI_INT, 0, alone));
    say("gather to no type", MPI_Gather(from, 1, MPI_INT, to, 1, MPI_DATATYPE_NULL, 0, alone));
}

/* Passes no request beside one that is complete. Open MPI 5 reads what no request points to. */
static void some_requests(void) {
#if !defined OMPI_MAJOR_VERSION || OMPI_MAJOR_VERSION < 5
    int flag = 0, count = 1 << 30, indices[2];
    MPI_Request both[2] = {0, request};
    while (!flag)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    say("testsome", MPI_Testsome(2, both, &count, indices, MPI_STATUSES_IGNORE));
    request = both[1];
#endif
}

/* Passes NULL instead of requests, while one request is active. */
static void requests(void) {
    int index, flag;
    MPI_Iallreduce(values, results, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    say("wait", MPI_Wait(NULL, MPI_STATUS_IGNORE));
    say("test", MPI_Test(NULL, &flag, MPI_STATUS_IGNORE));
    say("start", MPI_Start(NULL));
    say("cancel", MPI_Cancel(NULL));
    say("free", MPI_Request_free(NULL));
    say("waitall", MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE));
    say("waitall of less than none", MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE));
    say("waitany", MPI_Waitany(1, NULL, &index, MPI_STATUS_IGNORE));
    say("startall", MPI_Startall(1, NULL));
    some_requests();
    say("wait as it should be", MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static int errors;

static void count_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    errors++;
}

/* Starts calls without a type, whose errors must get to the communicator's own handler. */
static void types(MPI_Comm comm) {
    MPI_Datatype none[64] = {0};
    int counts[64] = {0};
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    say("ibcast of a null type", MPI_Ibcast(values, 1, none[0], 0, comm, &request));
    printf("%d: %d error\n", rank, errors);
    say("ialltoallw of null types", MPI_Ialltoallw(values, counts, counts, none, results, counts,
                                                   counts, none, comm, &request));
    printf("%d: %d errors\n", rank, errors);
    MPI_Errhandler_free(&handler);
}

int main(int argc, char **argv) {
    MPI_Comm copy, alone;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
    MPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(1, MPI_INT, &uncommitted);
    reductions(MPI_COMM_WORLD);
    reductions(copy);
    bcasts(copy);
    gathers(copy);
    gathers_alone(alone);
    requests();
    types(copy);
    MPI_Type_free(&uncommitted);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&alone);
    MPI_Finalize();
    return 0;
}
