/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * aggregate STAGE SPEC BYTES TASKS: runs one COLL_Aggregate with SPEC ("group_by") to rank 0, on
 * pools that all have the same keys. Prints the seconds of STAGE, "regroup" or "gather", on the
 * slowest rank. Verifies the sums.
 *
 * Every rank contributes BYTES of key-value pairs: PAIRS of them for each rank that owns keys
 * (lib/aggregate/partition.h). It does so TASKS times, each time with other keys, like the tasks of
 * a node that don't combine their pairs.
 *
 * With SCALE in the environment, a byte stands for SCALE bytes, and the platform's links are SCALE
 * times slower. So the time is right for data that exceed this machine's memory.
 */
#include "simulate/clock.h"

#include "lib/aggregate/partition.h"

#include <coll.h>

#include <string.h>

enum { PAIRS = 2 };

static void add_up(void *into, const void *from, size_t bytes, void *context) {
    double *sums = into;
    const double *values = from;
    (void)context;
    for (size_t i = 0; i < bytes / sizeof *sums; i++)
        sums[i] += values[i];
}

/* Chooses COUNT keys, the same number for each owner. */
static uint64_t *choose_keys(int ranks, int count) {
    uint64_t *keys = malloc((size_t)count * sizeof *keys), key = 0;
    int *given = calloc((size_t)ranks, sizeof *given);
    for (int chosen = 0; chosen < count; key++) {
        int owner = coll_partition_owner(coll_partition_hash(key), ranks);
        if (given[owner] < count / ranks) {
            given[owner]++;
            keys[chosen++] = key;
        }
    }
    free(given);
    return keys;
}

static int is_sum(uint64_t key, const void *value, void *context) {
    (void)key;
    return *(const double *)value != *(const double *)context;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    if (argc != 5)
        clock_fail("usage: aggregate STAGE SPEC BYTES TASKS");
    const char *scale = getenv("SCALE");
    double bytes = atof(argv[3]) / (scale ? atof(scale) : 1), seconds, longest;
    int rank, ranks, tasks = atoi(argv[4]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int count = ranks * PAIRS;
    size_t values = (size_t)(bytes / count / sizeof(double)) + 1;
    double *value = malloc(values * sizeof *value), sum = ranks * (ranks + 1.0) / 2;
    for (size_t i = 0; i < values; i++)
        value[i] = rank + 1;

    COLL_Pool *pool;
    COLL_Aggregate_stats stats;
    uint64_t *keys = choose_keys(ranks, tasks * count);
    if (COLL_Set(MPI_COMM_WORLD, "aggregate", argv[2]) != MPI_SUCCESS ||
        COLL_Pool_create(values * sizeof *value, add_up, NULL, &pool) != MPI_SUCCESS)
        clock_fail("aggregate: bad SPEC or no memory");
    for (int i = 0; i < tasks * count; i++)
        COLL_Pool_add(pool, keys[i], value);
    clock_start_together();
    if (COLL_Aggregate(pool, 0, MPI_COMM_WORLD, &stats) != MPI_SUCCESS ||
        COLL_Pool_visit(pool, is_sum, &sum) ||
        COLL_Pool_size(pool) != (rank == 0 ? (size_t)(tasks * count) : 0))
        clock_fail("aggregate: the aggregation failed");
    seconds = strcmp(argv[1], "gather") == 0 ? stats.gather_seconds : stats.group_by_seconds;
    MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.9f\n", longest);
    COLL_Pool_free(&pool);
    free(keys);
    free(value);
    MPI_Finalize();
    return 0;
}
