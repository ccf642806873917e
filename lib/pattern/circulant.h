/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Round-optimal broadcast schedules on circulant graphs. Pure arithmetic, no communication.
 *
 * N segments reach P positions from position 0 in n - 1 + ceil(log2 p) rounds, the minimum if every
 * position sends and receives one segment a round. Let q = ceil(log2 p). In round i, with k = (i +
 * x) mod q, where x makes k = q - 1 in the last round, every position sends to the position skip[k]
 * above it and receives from the position skip[k] below it, modulo p.
 *
 * Source: Traeff, Optimal Broadcast Schedules in Logarithmic Time, arXiv 2407.18004.
 */
#ifndef COLL_LIB_PATTERN_CIRCULANT_H
#define COLL_LIB_PATTERN_CIRCULANT_H

#include <stddef.h>

enum { COLL_CIRCULANT_ROUNDS = 32 }; /* at least ceil(log2 INT_MAX) */

/*
 * The schedule of one position for the rounds 0..q-1 of a phase; later phases add q to every
 * segment.
 */
typedef struct coll_circulant {
    int p, q, position;
    int skip[COLL_CIRCULANT_ROUNDS];
    /* segments received in each round; negative ones don't exist yet */
    int receive[COLL_CIRCULANT_ROUNDS];
    /*
     * The receive schedules of the positions to which this position sends; [k][k] is the segment
     * that this position sends in round k.
     */
    int neighbour[COLL_CIRCULANT_ROUNDS][COLL_CIRCULANT_ROUNDS];
} coll_circulant;

/* Computes the schedule of POSITION among P >= 1 positions, in O(log^3 p) steps. */
void coll_circulant_init(coll_circulant *schedule, int p, int position);

/* One round of a position; a segment is -1 if nothing is sent or received. */
typedef struct coll_circulant_round {
    long long send, receive;
    int to, from; /* positions */
} coll_circulant_round;

/* Returns round I, counted from 0, for N >= 1 segments. No segment is received twice. */
coll_circulant_round coll_circulant_at(const coll_circulant *schedule, long long n, long long i);

#endif
