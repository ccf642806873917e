/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with a seeded problem, which scripts/doctor-score expects the report to name. All ranks
 * compute for some milliseconds and call MPI_Allreduce of a number, for SECONDS. Computing is
 * sleeping, so that emulated hosts can share processors.
 *
 *     seeded compute RANK SECONDS     RANK computes 1.5 times longer
 *     seeded moving RANK SECONDS      one rank after the other computes 3 times as long
 *     seeded sleep RANK SECONDS       RANK sleeps for 0.15 s every second
 *     seeded allgather RANK SECONDS   an MPI_Allgather of 64 KB a rank takes most of the time
 */
#include "config.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 65536 };
static const double COMPUTES = 20e-3, SLEEPS = 0.15, EVERY = 1;

static void sleep_for(double seconds) {
    const struct timespec time = {0, (long)(1e9 * seconds)};
    nanosleep(&time, NULL);
}

/* Returns the seconds of the next computation, and sets *SLEPT if it is one that sleeps. */
static double next_computation(const char *problem, int is_seeded, int is_in_turn, double *slept) {
    if (is_seeded && strcmp(problem, "compute") == 0)
        return 1.5 * COMPUTES;
    if (is_in_turn && strcmp(problem, "moving") == 0)
        return 3 * COMPUTES;
    if (is_seeded && strcmp(problem, "sleep") == 0 && MPI_Wtime() - *slept >= EVERY) {
        *slept = MPI_Wtime();
        return COMPUTES + SLEEPS;
    }
    return COMPUTES;
}

int main(int argc, char **argv) {
    int rank, ranks;
    if (argc != 4) {
        fprintf(stderr, "seeded: seeded compute|moving|sleep|allgather RANK SECONDS\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *problem = argv[1];
    const int is_seeded = rank == atoi(argv[2]);
    const double began = MPI_Wtime(), limit = atof(argv[3]);
    double slept = began, own = 0, most = 0;
    char *block = calloc(1, BLOCK), *all = calloc((size_t)ranks, BLOCK);
    if (!block || !all)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; most < limit; step++) {
        sleep_for(next_computation(problem, is_seeded, step % ranks == rank, &slept));
        own = MPI_Wtime() - began;
        MPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (strcmp(problem, "allgather") == 0)
            MPI_Allgather(block, BLOCK, MPI_BYTE, all, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    }
    free(block);
    free(all);
    MPI_Finalize();
    return 0;
}
