/*
 * The pricer: plays the plans of all ranks of a call in one process, each by a cursor, against the
 * profile's costs, and says when the last rank ends. It needs no MPI, and finds the same number on
 * every rank. The model is Tam and Wang's (section 3.2), with ranks that wait for each other:
 *
 * - A rank's processor is busy for Os with a send, for Or + Ur with a receive and to wake up if it
 *   was idle. It takes up its work in the order in which that comes.
 * - The message then needs the links of network.h, one behind the other, and L.
 * - A message of less than the eager limit is sent when its processor is done with it, a longer one
 *   when it is received.
 *
 * A long call is played at two shorter lengths, half a window of segments apart, and goes on at the
 * pace from one to the other. Where a pipeline of many ranks finds its pace later than the budget
 * reaches, the price is some percent too high.
 */
#ifndef COLL_LIB_SCHEDULE_PRICE_H
#define COLL_LIB_SCHEDULE_PRICE_H

#include "lib/schedule/plan.h"

/* Times in nanoseconds from the common start. */
typedef struct coll_price_message {
    int from, to, lane;
    uint64_t nth; /* of those from one to the other on this lane, from 0 */
    size_t bytes;
    coll_level level;
    int64_t start;   /* it begins to leave its sender's host */
    int64_t arrival; /* it is at its receiver's host as a whole */
    int64_t end;     /* it is received */
} coll_price_message;

/* Events that a price should take at most, and the eager limit of most transports. */
enum { COLL_PRICE_BUDGET = 200000, COLL_PRICE_EAGER = 64 << 10 };

typedef struct coll_price_call {
    const coll_algorithm *algorithm;
    const coll_planner *planner; /* the algorithm's, with these values */
    const coll_shape *shape;     /* of a gather: all blocks have its bytes */
    const coll_values *values;
    int budget; /* events */
    bool whole; /* every message of it, however long */
    /* Is told of every message when it is received, if the call is played whole; or NULL. */
    void (*watch)(const coll_price_message *message, void *context);
    void *context;
    int64_t *ends; /* out, for each rank; or NULL */
} coll_price_call;

enum { COLL_PRICE_UNKNOWN = -1 };
typedef struct coll_price {
    int64_t time; /* until the last rank ends; COLL_PRICE_UNKNOWN: the budget didn't do */
    int events;
    bool extrapolated;
} coll_price;

/* MPI_ERR_NO_MEM, MPI_ERR_INTERN where the plans wait for ever. */
int coll_price_play(const coll_price_call *call, coll_price *price);

/*
 * What ALGORITHM's plan takes for SHAPE, in seconds, also where with these values it is none and
 * does the same with more; INFINITY: there is no price. It is the same number on every rank,
 * whatever memory that has: it allocates none.
 */
double coll_price_seconds(const coll_algorithm *algorithm, const coll_shape *shape,
                          const coll_values *values);

#endif
