/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes CALLS allreduces, before each of which all ranks sleep for up to a millisecond, and rank
 * LATE for MILLISECONDS more (-1: none does). Prints the seconds in these calls, the mean of the
 * ranks. With "asleep" behind that, the last rank sleeps before MPI_Finalize; with "abort" it
 * aborts; with "alone" it leaves out all calls. Built twice: with LINKED for libcoll's own
 * functions.
 */
#include "config.h"

#ifdef LINKED
#include <coll.h>
#define ALLREDUCE COLL_Allreduce
#else
#define ALLREDUCE MPI_Allreduce
#endif
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 3000 };
static double in[COUNT], out[COUNT];

static int fail(const char *what, int code) {
    fprintf(stderr, "late: %s returned %d\n", what, code);
    MPI_Abort(MPI_COMM_WORLD, 2);
    return 1;
}

static void sleep_for(long microseconds) {
    const struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv) {
    int rank, ranks;
    if (argc < 4) {
        fprintf(stderr, "late: late LATE MILLISECONDS CALLS [asleep|abort|alone]\n");
        return 2;
    }
    const int late = atoi(argv[1]), calls = atoi(argv[3]);
    const long more = 1000 * atol(argv[2]);
    const char *end = argc > 4 ? argv[4] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int last = rank == ranks - 1;
    uint32_t seed = 12345u + 7919u * (uint32_t)rank;
    double seconds = 0, sum = 0;
    MPI_Comm comm;
    int code = MPI_Comm_split(MPI_COMM_WORLD, strcmp(end, "alone") == 0 && last, rank, &comm);
    if (code != MPI_SUCCESS)
        return fail("MPI_Comm_split", code);
    for (int i = 0; i < COUNT; i++)
        in[i] = rank + 1;
    for (int i = 0; i < calls && !(strcmp(end, "alone") == 0 && last); i++) {
        seed = seed * 1664525u + 1013904223u;
        sleep_for((long)((seed >> 16) % 1000) + (rank == late ? more : 0));
        const double start = MPI_Wtime();
        code = ALLREDUCE(in, out, COUNT, MPI_DOUBLE, MPI_SUM, comm);
        seconds += MPI_Wtime() - start;
        if (code != MPI_SUCCESS)
            return fail("the allreduce", code);
    }
    MPI_Reduce(&seconds, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.6f\n", sum / ranks);
    fflush(stdout);
    if (strcmp(end, "abort") == 0 && last)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(end, "asleep") == 0 && last)
        sleep(4);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
