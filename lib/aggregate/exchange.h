/*
 * What the stages of all aggregation algorithms have in common: pairs leave the pool for the
 * partners that a route names and those that arrive are merged, in bounded segments, with a window
 * of them in flight each way. Memory besides the pool: two windows of segments, which are no larger
 * than all data, and eight bytes for every key that leaves.
 *
 * First the partners tell each other how many pairs will come, so whatever goes wrong on one rank
 * later, the others know what to expect: a rank that can't merge goes on receiving and sending, and
 * all learn of it when they next agree. Arrivals are merged in the order of the route, never in
 * that of time.
 */
#ifndef COLL_LIB_AGGREGATE_EXCHANGE_H
#define COLL_LIB_AGGREGATE_EXCHANGE_H

#include "lib/aggregate/aggregate.h"
#include "lib/pattern/partition.h"

typedef struct coll_exchange coll_exchange;

/*
 * Makes what the stages of CALL, which was checked on all ranks together, need; collective. A pool
 * can come to hold MOST_PAIRS, alike on all ranks. CALL's stats, not NULL, get bytes_sent. Lack of
 * memory for the segments is told by the first stage, to all ranks. End with coll_exchange_close.
 */
int coll_exchange_open(const coll_aggregate_call *call, size_t most_pairs,
                       const coll_values *values, coll_exchange **exchange);

/* One stage: MAKE says who talks to whom. Adds its time to *SECONDS. Collective. */
int coll_exchange_stage(coll_exchange *exchange, coll_route_maker *make, double *seconds);

/*
 * Frees EXCHANGE and returns CODE, that of the last stage; where that was a success, all ranks
 * first agree that the last arrivals were merged everywhere.
 */
int coll_exchange_close(coll_exchange *exchange, int code);

#endif
