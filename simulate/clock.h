/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated time, for the programs of this folder. */
#ifndef COLL_SIMULATE_CLOCK_H
#define COLL_SIMULATE_CLOCK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Prints WHY and ends the simulation, which has no exit status. */
static inline void clock_fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/*
 * Pauses for longer than the 10 ms for which the InfiniBand platform counts the nodes with which a
 * processor has communicated (infiniband.cpp). In a communicator's first collective, SMPI sends
 * messages in a ring through all ranks, to find out which ranks share a node. Without this pause,
 * the algorithms that MPI libraries choose would take twice as long.
 */
static inline void clock_settle(void) {
    usleep(20000);
}

/* Makes all ranks continue at the same time, and returns that time. */
static inline double clock_start_together(void) {
    enum { AHEAD = 5 }; /* seconds; more than the reduction takes to reach all ranks */
    double now = MPI_Wtime(), start;
    MPI_Allreduce(&now, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    start = (double)(long)start + AHEAD;
    now = MPI_Wtime();
    usleep((unsigned)((start - now) * 1e6 + 0.5));
    return MPI_Wtime();
}

/* Returns, on rank 0, the seconds from START to the last rank's arrival. */
static inline double clock_longest(double start) {
    double mine = MPI_Wtime() - start, longest = 0;
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return longest;
}

#endif
