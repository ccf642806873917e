/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce MODE BYTES REPEATS COMPUTE_US: the microbenchmark of Sancho, Kerbyson and Barker
 * (figure 5) on the application ranks. MODE is "blocking" (MPI_Allreduce); "nbc" (MPI_Iallreduce,
 * see iallreduce.c, with an MPI_Test every 5 us of computing, about the time of a message); or
 * "dcp" with the number of dedicated processors in COLL_DCP, which are some of the ranks. Prints
 * the microseconds of a round without its computing: the latency if COMPUTE_US is 0, otherwise the
 * overhead.
 */
#include "simulate/clock.h"

#include "cdcp/dcp.h"

#include <coll.h>
#include <coll_tools.h>

#include <smpi/smpi.h>
#include <string.h>

enum { WARM_UP = 2, MOST = 128 };

/* Seconds of computing between two tests of MPI_Iallreduce. */
static const double slice = 5e-6;

static double values[MOST], sums[MOST];

static void start_allreduce(const char *mode, int count, MPI_Comm comm, MPI_Request *request,
                            DCP_Request *pending) {
    if (strcmp(mode, "dcp") == 0)
        DCP_IAllreduce(values, sums, count, MPI_DOUBLE, MPI_SUM, comm, pending);
    else if (strcmp(mode, "nbc") == 0)
        MPI_Iallreduce(values, sums, count, MPI_DOUBLE, MPI_SUM, comm, request);
}

/* Computes for SECONDS; REQUEST only progresses when it is tested. */
static void compute_for(double seconds, MPI_Request *request) {
    int flag = *request == MPI_REQUEST_NULL;
    for (; !flag && seconds > slice; seconds -= slice) {
        smpi_execute_benched(slice);
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    }
    if (seconds > 0)
        smpi_execute_benched(seconds);
}

static void finish_allreduce(const char *mode, int count, MPI_Comm comm, MPI_Request *request,
                             DCP_Request *pending) {
    if (strcmp(mode, "dcp") == 0)
        DCP_Wait(pending);
    else if (strcmp(mode, "nbc") == 0)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    else
        MPI_Allreduce(values, sums, count, MPI_DOUBLE, MPI_SUM, comm);
}

static void measure_rounds(const char *mode, int count, int repeats, double compute,
                           MPI_Comm comm) {
    int rank, ranks;
    double since = 0, mine, longest;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < count; i++)
        values[i] = rank + 1;
    for (int round = -2 * WARM_UP; round < repeats; round++) {
        MPI_Request request = MPI_REQUEST_NULL;
        DCP_Request pending = DCP_REQUEST_NULL;
        if (round == -WARM_UP)
            clock_settle();
        if (round == 0)
            since = MPI_Wtime();
        start_allreduce(mode, count, comm, &request, &pending);
        compute_for(compute, &request);
        finish_allreduce(mode, count, comm, &request, &pending);
        if (sums[count - 1] != ranks * (ranks + 1.0) / 2)
            clock_fail("allreduce: a wrong sum");
    }
    mine = (MPI_Wtime() - since) / repeats - compute;
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
    if (rank == 0)
        printf("us %.6f\n", longest * 1e6);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 5)
        clock_fail("usage: allreduce MODE BYTES REPEATS COMPUTE_US");
    int count = atoi(argv[2]) / (int)sizeof *values, dedicated = strcmp(argv[1], "dcp") == 0;
    MPI_Comm app = MPI_COMM_WORLD;
    if (count < 1 || count > MOST)
        clock_fail("allreduce: from 8 to 1024 bytes");
    if (dedicated && coll_dcp_start(getenv("COLL_DCP"), MPI_COMM_WORLD, &app) != MPI_SUCCESS)
        clock_fail("allreduce: no dedicated processors");
    if (app == MPI_COMM_NULL) {
        if (DCP_Serve() != MPI_SUCCESS)
            clock_fail("allreduce: a dedicated processor failed");
    } else {
        measure_rounds(argv[1], count, atoi(argv[3]), atof(argv[4]) * 1e-6, app);
        if (dedicated)
            DCP_Stop();
    }
    MPI_Finalize();
    return 0;
}
