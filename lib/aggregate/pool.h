/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations on COLL_Pool that aggregation needs in addition to coll.h: moving pairs to and
 * from segments of messages, grouping keys, and the account of memory. None of these operations may
 * run while other threads add pairs.
 *
 * In a segment a pair takes coll_pool_pair_bytes: the key, then the value padded to 8 bytes.
 */
#ifndef COLL_LIB_AGGREGATE_POOL_H
#define COLL_LIB_AGGREGATE_POOL_H

#include "coll.h"

#include <stdbool.h>

size_t coll_pool_value_bytes(const COLL_Pool *pool);
size_t coll_pool_pair_bytes(const COLL_Pool *pool);

/* A pool's keys by group: those of group g are keys[first[g]] to keys[first[g + 1] - 1]. */
typedef struct coll_pool_groups {
    uint64_t *keys;
    size_t *first;
    int count;
} coll_pool_groups;

/*
 * Lists the keys of POOL in COUNT groups; GROUP returns the group of a key, or -1 to leave the key
 * out. Within a group keys are listed shard by shard, so that moving out a whole pool frees its
 * memory gradually. Free the lists with coll_pool_ungroup. Errors: MPI_ERR_NO_MEM.
 */
int coll_pool_group(COLL_Pool *pool, int count, int (*group)(uint64_t key, const void *context),
                    const void *context, coll_pool_groups *groups);
void coll_pool_ungroup(COLL_Pool *pool, coll_pool_groups *groups);

/* Moves the pairs of the COUNT keys in KEYS, which POOL must contain, out of POOL into SEGMENT. */
void coll_pool_take(COLL_Pool *pool, const uint64_t *keys, size_t count, void *segment);

/*
 * Adds the COUNT pairs in SEGMENT, which is aligned to 8 bytes, to POOL in order. Stops at the
 * first error and returns it.
 */
int coll_pool_merge(COLL_Pool *pool, const void *segment, size_t count);

/*
 * coll_pool_bytes returns the account of POOL's memory: the bytes that POOL has allocated, plus the
 * bytes that coll_pool_charge has added, minus those that coll_pool_credit has subtracted.
 */
size_t coll_pool_bytes(const COLL_Pool *pool);
void coll_pool_charge(COLL_Pool *pool, size_t bytes);
void coll_pool_credit(COLL_Pool *pool, size_t bytes);

/* Returns the maximum of the account since the last coll_pool_restart_peak. */
size_t coll_pool_peak(const COLL_Pool *pool);
void coll_pool_restart_peak(COLL_Pool *pool);

#endif
