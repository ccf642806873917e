/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange of pairs in a stage of an aggregation: pairs leave the pool for the partners that a
 * route names, and those that arrive are merged, in bounded segments, with a window of segments in
 * flight each way. Memory in addition to the pool: two windows of segments, which are no larger
 * than all data, and eight bytes for every key that leaves.
 *
 * First the partners tell each other how many pairs they will send. Whatever goes wrong on one rank
 * later, the others know what to expect: a rank that cannot merge continues to receive and send,
 * and all ranks learn of its error at the next agreement. Arrivals are merged in the order of the
 * route, not in the order of arrival.
 */
#ifndef COLL_LIB_AGGREGATE_EXCHANGE_H
#define COLL_LIB_AGGREGATE_EXCHANGE_H

#include "lib/aggregate/aggregate.h"
#include "lib/pattern/partition.h"

typedef struct coll_exchange coll_exchange;

/*
 * Allocates what the stages of CALL need; CALL's arguments must have been checked on all ranks.
 * Collective. A pool can come to hold MOST_PAIRS pairs, a number that is the same on all ranks.
 * CALL's stats, which must not be NULL, receive bytes_sent. If a rank has no memory for the
 * segments, the first stage reports that to all ranks. End with coll_exchange_close.
 */
int coll_exchange_open(const coll_aggregate_call *call, size_t most_pairs,
                       const coll_values *values, coll_exchange **exchange);

/*
 * Runs one stage; MAKE determines which rank sends to which. Adds the stage's time to *SECONDS.
 * Collective.
 */
int coll_exchange_stage(coll_exchange *exchange, coll_route_maker *make, double *seconds);

/*
 * Frees EXCHANGE and returns CODE, the result of the last stage. If CODE is MPI_SUCCESS, all ranks
 * first agree on whether the last arrivals were merged everywhere.
 */
int coll_exchange_close(coll_exchange *exchange, int code);

#endif
