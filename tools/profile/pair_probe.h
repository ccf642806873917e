/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures what messages between two ranks cost, depending on the size of the message. One rank
 * measures, the other one serves it. The methods are those of Tam and Wang, section 3.2, unless
 * stated otherwise.
 */
#ifndef COLL_TOOLS_PROFILE_PAIR_PROBE_H
#define COLL_TOOLS_PROFILE_PAIR_PROBE_H

#include <mpi.h>

/* The quantities that are measured, each in seconds. */
typedef enum probe_figure {
    PROBE_MESSAGE, /* half a round trip: Os + L + Or + Ur */
    PROBE_SEND,    /* Os: the time in MPI calls from the start of a send to its end */
    PROBE_RECEIVE, /* Ur: the same for a receive that starts when the message should have arrived */
    PROBE_ARRIVAL, /* Or: the time by which an arrival prolongs a computation */
    PROBE_GAP,     /* gs: the time between two arrivals of a steady stream */
    PROBE_FIGURES
} probe_figure;

enum { PROBE_SIZES = 12, PROBE_ROUNDS = 12 };

/* The sizes in bytes, 1 to 256K, ascending. */
extern const int probe_size[PROBE_SIZES];

/*
 * The samples of one pair: the median of each round, and the number of rounds. Some figures are not
 * measured at large sizes, which then have 0 rounds. Large sizes may have fewer rounds than small
 * ones, or none, if they take too long.
 */
typedef struct probe_result {
    double sample[PROBE_FIGURES][PROBE_SIZES][PROBE_ROUNDS];
    int rounds[PROBE_FIGURES][PROBE_SIZES];
} probe_result;

/*
 * Measures for about SECONDS against PEER, which must call probe_serve at the same time. Takes at
 * least one round, however slow the messages are. If half a round trip of one size takes more than
 * a fiftieth of SECONDS, all larger sizes are left out. A round's samples of a figure at a size are
 * taken again, up to twice, if the kernel preempted this process meanwhile. Returns an MPI error
 * code.
 */
int probe_measure(int peer, MPI_Comm comm, double seconds, probe_result *result);

/* Serves PEER until its probe_measure ends. Returns an MPI error code. */
int probe_serve(int peer, MPI_Comm comm);

#endif
