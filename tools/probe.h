/* Measures the costs of messages between two ranks, one of which serves the other. */
#ifndef COLL_TOOLS_PROBE_H
#define COLL_TOOLS_PROBE_H

#include <mpi.h>

enum { PROBE_STREAMS = 16 };

typedef struct probe_result {
    double latency;                 /* s: half of a short round trip */
    double overhead;                /* s: processor time of one send or receive */
    double per_byte[PROBE_STREAMS]; /* s: of each stream */
    int streams;
} probe_result;

/*
 * Measures against PEER, which calls probe_serve at the same time, for about SECONDS; at least a
 * few round trips and one stream of a megabyte, however slow. Returns an MPI error code.
 *
 * Latency is the 10 % quantile of half round trips of 8 bytes. Overhead is half of what a send of 8
 * bytes and the receive of an answer that has arrived meanwhile take, the 10 % quantile: the
 * answer is given time, without a call to MPI, so that its way is not counted but its receipt is.
 * The gap per byte is taken where a stream of 32 KB messages arrives, from the first to the last.
 */
int probe_measure(int peer, MPI_Comm comm, double seconds, probe_result *result);

/* Answers PEER until it has measured enough. */
int probe_serve(int peer, MPI_Comm comm);

#endif
