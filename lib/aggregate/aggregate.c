/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/aggregate/aggregate.h"
#include "lib/aggregate/exchange.h"
#include "lib/aggregate/pool.h"
#include "lib/algorithm/spec.h"
#include "lib/base/agree.h"
#include "lib/base/error.h"

#include <limits.h>

/*
 * Checks that all ranks gave valid and equal arguments, and sets *MOST_PAIRS to the most pairs that
 * there can be. The result is the same on all ranks.
 */
static int check_arguments(const COLL_Pool *pool, int root, coll_comm *comm, size_t *most_pairs) {
    int64_t value_bytes = pool ? (int64_t)coll_pool_value_bytes(pool) : 0;
    int64_t pairs = pool ? (int64_t)COLL_Pool_size(pool) : 0;
    const int64_t mine[] = {!pool, root, -(int64_t)root, value_bytes, -value_bytes, pairs};
    int64_t highest[sizeof mine / sizeof *mine];
    int code = coll_agree_highest(comm, sizeof mine / sizeof *mine, mine, highest);
    if (code != MPI_SUCCESS)
        return code;

    int64_t any_null = highest[0], high_root = highest[1], low_root = -highest[2];
    int64_t most_bytes = highest[3], least_bytes = -highest[4];
    *most_pairs = (size_t)highest[5] * (size_t)comm->ranks;
    if (any_null)
        return coll_error(MPI_ERR_ARG, "COLL_Aggregate: the pool is NULL on some rank");
    if (low_root < 0 || high_root >= comm->ranks)
        return coll_error(MPI_ERR_ROOT, "COLL_Aggregate: root %lld is not in 0 to %d",
                          (long long)(low_root < 0 ? low_root : high_root), comm->ranks - 1);
    if (low_root != high_root)
        return coll_error(MPI_ERR_ROOT, "COLL_Aggregate: ranks name different roots, %lld and %lld",
                          (long long)low_root, (long long)high_root);
    if (least_bytes != most_bytes)
        return coll_error(MPI_ERR_ARG,
                          "COLL_Aggregate: values are of %lld bytes on some rank, %lld on another",
                          (long long)least_bytes, (long long)most_bytes);
    if (coll_pool_pair_bytes(pool) / sizeof(uint64_t) > INT_MAX)
        return coll_error(MPI_ERR_COUNT, "COLL_Aggregate: a value of %lld bytes is over 16 GB",
                          (long long)most_bytes);
    return MPI_SUCCESS;
}

/* Runs all stages. CALL->stats must not be NULL; the pools can come to hold MOST_PAIRS pairs. */
static int run_stages(const coll_aggregate_call *call, size_t most_pairs,
                      const coll_aggregate_algorithm *choice, const coll_values *values) {
    COLL_Aggregate_stats *stats = call->stats;
    const struct {
        coll_route_maker *route;
        double *seconds;
    } stages[] = {{choice->local, &stats->local_seconds},
                  {choice->group_by, &stats->group_by_seconds},
                  {choice->gather, &stats->gather_seconds}};
    coll_exchange *exchange;
    int code = coll_exchange_open(call, most_pairs, values, &exchange);
    if (code != MPI_SUCCESS)
        return code;
    for (size_t i = 0; i < sizeof stages / sizeof *stages && code == MPI_SUCCESS; i++)
        if (stages[i].route)
            code = coll_exchange_stage(exchange, stages[i].route, stages[i].seconds);
    return coll_exchange_close(exchange, code);
}

int coll_aggregate_run(const coll_aggregate_call *call, const coll_aggregate_algorithm *choice,
                       const coll_values *values) {
    COLL_Aggregate_stats stats = {0};
    coll_aggregate_call measured = *call;
    size_t most_pairs;
    measured.stats = &stats;
    int code = check_arguments(call->pool, call->shape->root, call->comm, &most_pairs);
    if (code != MPI_SUCCESS)
        return code;
    coll_pool_restart_peak(call->pool);
    coll_values chosen = values ? *values : coll_values_default(&choice->base);
    code = run_stages(&measured, most_pairs, choice, &chosen);
    if (code != MPI_SUCCESS)
        return code;
    stats.peak_bytes = coll_pool_peak(call->pool);
    if (call->stats)
        *call->stats = stats;
    return MPI_SUCCESS;
}
