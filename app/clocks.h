/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The monotonic clock of this host, and a common clock of all ranks: rank 0's clock, to which the
 * other ranks measure their offset with ping-pongs.
 */
#ifndef COLL_APP_CLOCKS_H
#define COLL_APP_CLOCKS_H

#include <mpi.h>

/*
 * Returns the seconds of this host's monotonic clock. MPI_Wtime is not suitable: it may count from
 * each process's own start, and in steps of 10 ns.
 */
double app_seconds(void);

/* Sleeps for SECONDS; a signal may end the sleep early. */
void app_sleep(double seconds);

typedef struct app_clock {
    double offset;      /* s, to be added to this host's monotonic clock */
    double uncertainty; /* s: the maximum, over all ranks, of half the rank's shortest round trip to
                           rank 0 */
} app_clock;

/*
 * Measures the offsets. Each rank exchanges some short messages with rank 0; the exchange with the
 * shortest round trip counts. Ranks on rank 0's node share its clock. Collective.
 */
int app_clock_init(app_clock *clock, MPI_Comm comm);

/* Returns the current time of rank 0's clock. */
double app_clock_now(const app_clock *clock);

/* Sleeps, then yields, until rank 0's clock shows DATE. */
void app_clock_wait(const app_clock *clock, double date);

/*
 * Waits for *REQUEST without disturbing the processes being measured: sleeps between tests, first
 * for NAP seconds, then each time twice as long until a sleep takes at least LONGEST seconds.
 */
int app_wait_asleep(MPI_Request *request, double nap, double longest);

/* Waits like app_wait_asleep until all ranks of COMM have called this function. */
int app_barrier_asleep(MPI_Comm comm, double nap, double longest);

#endif
