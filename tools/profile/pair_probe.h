/*
 * Measures what messages cost between two ranks, one of which serves the other, as functions of
 * their size: by the methods of Tam and Wang, section 3.2, where nothing else is said.
 */
#ifndef COLL_TOOLS_PROFILE_PAIR_PROBE_H
#define COLL_TOOLS_PROFILE_PAIR_PROBE_H

#include <mpi.h>

/* What is measured of messages, each in seconds. */
typedef enum probe_figure {
    PROBE_MESSAGE, /* half a round trip: Os + L + Or + Ur */
    PROBE_SEND,    /* Os: the time in MPI calls from the start of a send to its end */
    PROBE_RECEIVE, /* Ur: the same of a receive whose message has had the time to arrive */
    PROBE_ARRIVAL, /* Or: by how much an arrival prolongs a computation */
    PROBE_GAP,     /* gs: from one arrival of a steady stream to the next */
    PROBE_FIGURES
} probe_figure;

enum { PROBE_SIZES = 12, PROBE_ROUNDS = 12 };

/* The sizes in bytes, 1 to 256K, ascending. */
extern const int probe_size[PROBE_SIZES];

/*
 * The samples of one pair: the medians of rounds. A figure is measured at the first so many sizes;
 * the rounds of a figure at a size may be fewer than others' where there was no time.
 */
typedef struct probe_result {
    double sample[PROBE_FIGURES][PROBE_SIZES][PROBE_ROUNDS];
    int rounds[PROBE_FIGURES][PROBE_SIZES];
} probe_result;

/*
 * Measures against PEER, which calls probe_serve at the same time, for about SECONDS; at least one
 * round of the small sizes, however slow. Sizes of which one message takes a fiftieth of SECONDS
 * are left out, and so are larger ones. A sample during which the kernel took the processor away is
 * taken again, up to twice. Returns an MPI error code.
 */
int probe_measure(int peer, MPI_Comm comm, double seconds, probe_result *result);

/* Answers PEER until it has measured enough. */
int probe_serve(int peer, MPI_Comm comm);

#endif
