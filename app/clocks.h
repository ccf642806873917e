/* The clock of this host, and one for all ranks: rank 0's, read through an offset that ping-pongs
 * have measured. */
#ifndef COLL_APP_CLOCKS_H
#define COLL_APP_CLOCKS_H

#include <mpi.h>

/*
 * Seconds of this host's monotonic clock. Not MPI_Wtime, which may count from each process's own
 * start, and in steps of 10 ns.
 */
double app_seconds(void);

/* Sleeps for so long; a signal may cut it short. */
void app_sleep(double seconds);

typedef struct app_clock {
    double offset;      /* s: what to add to this host's monotonic clock */
    double uncertainty; /* s: half the shortest round trip to rank 0, over all ranks the largest */
} app_clock;

/*
 * Measures the offsets; collective. Each rank exchanges some short messages with rank 0, the one
 * with the shortest round trip counts. Ranks that share a node with rank 0 share its clock.
 */
int app_clock_init(app_clock *clock, MPI_Comm comm);

/* Now, by rank 0's clock. */
double app_clock_now(const app_clock *clock);

/* Sleeps, then yields, until DATE by that clock. */
void app_clock_wait(const app_clock *clock, double date);

/*
 * Waits for *REQUEST without taking the processor from whoever is being measured: with sleeps
 * between tests, of NAP seconds at first, then each twice as long as the last until they
 * are LONGEST or more.
 */
int app_wait_asleep(MPI_Request *request, double nap, double longest);

#endif
