/* Simulated time, for the programs of this folder. */
#ifndef COLL_SIMULATE_CLOCK_H
#define COLL_SIMULATE_CLOCK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Says why and ends the simulation, which has no exit status of its own. */
static inline void clock_fail(const char *why) {
    fprintf(stderr, "%s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/*
 * The InfiniBand platform forgets in this time whom a processor talked with while all was set up.
 * SMPI learns who shares a node in a communicator's first collective, by a ring through all ranks:
 * without this the libraries' choices would pay for that and take twice as long.
 */
static inline void clock_settle(void) {
    usleep(20000);
}

/* Lets all ranks of the world go on at the same date, which it returns. */
static inline double clock_start_together(void) {
    enum { AHEAD = 5 }; /* seconds, more than it takes the date to get around any platform */
    double now = MPI_Wtime(), start;
    MPI_Allreduce(&now, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    start = (double)(long)start + AHEAD;
    now = MPI_Wtime();
    usleep((unsigned)((start - now) * 1e6 + 0.5));
    return MPI_Wtime();
}

/* The seconds since START of the rank that comes last; at rank 0. */
static inline double clock_longest(double start) {
    double mine = MPI_Wtime() - start, longest = 0;
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return longest;
}

#endif
