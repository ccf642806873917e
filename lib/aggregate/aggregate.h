/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface of aggregation algorithms; their table is in lib/api/registry.c. */
#ifndef COLL_LIB_AGGREGATE_AGGREGATE_H
#define COLL_LIB_AGGREGATE_AGGREGATE_H

#include "coll.h"
#include "lib/aggregate/partition.h"
#include "lib/algorithm/algorithm.h"
#include "lib/base/comm.h"

typedef struct coll_aggregate_call {
    COLL_Pool *pool;
    coll_comm *comm;
    const coll_shape *shape;
    COLL_Aggregate_stats *stats; /* may be NULL; set only on success */
} coll_aggregate_call;

/*
 * An algorithm has up to three stages, which run in the order LOCAL, GROUP_BY, GATHER. Each of
 * these members is a function that makes a rank's route (which rank sends to which), or NULL if the
 * algorithm lacks the stage.
 */
typedef struct coll_aggregate_algorithm {
    coll_algorithm base;
    coll_route_maker *local, *group_by, *gather;
} coll_aggregate_algorithm;

extern const coll_aggregate_algorithm coll_aggregate_three_stage;
extern const coll_aggregate_algorithm coll_aggregate_group_by;
extern const coll_aggregate_algorithm coll_aggregate_direct;

static inline const coll_aggregate_algorithm *coll_aggregate_of(const coll_algorithm *base) {
    return (const coll_aggregate_algorithm *)base;
}

/* The parameters of all aggregation algorithms. */
#define COLL_AGGREGATE_PARAMS                                                                      \
    {                                                                                              \
        [COLL_SEGMENT] = {"segment", "bytes of a message, one pair at least", 256 << 10, 64,       \
                          1 << 30},                                                                \
        [COLL_WINDOW] = {"window", "segments in flight in each direction", 4, 1, 64},              \
    }

/*
 * Aggregates with the algorithm CHOICE and VALUES, or its defaults if VALUES is NULL. Collective.
 * The pool, the root and the size of values are checked on all ranks together, so that a bad
 * argument on one rank is an error on all: MPI_ERR_ARG, MPI_ERR_ROOT, or MPI_ERR_COUNT if a value
 * has over 16 GB. Without memory for the pairs, the error is MPI_ERR_NO_MEM. On success the root's
 * pool has every key and the other pools are empty. Errors are the same on all ranks, except
 * communication errors; after an error the pools are valid, but lack the pairs that were in flight
 * and the pairs that a rank received and had no memory for.
 */
int coll_aggregate_run(const coll_aggregate_call *call, const coll_aggregate_algorithm *choice,
                       const coll_values *values);

#endif
