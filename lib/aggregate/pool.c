/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * COLL_Pool: the shared memory pool of local aggregation (Zhang and Qiu, "Local
 * Aggregation in Map Stage").
 *
 * Keys are distributed over shards by their hash. Each shard has a lock, an open-addressing index
 * and slabs of values. Only the index is ever moved, one shard at a time; values stay in place. The
 * size of the next slab is a fraction of the shard's size, so memory grows with the number of keys
 * without peaks.
 */
#include "config.h"

#include "lib/aggregate/partition.h"
#include "lib/aggregate/pool.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* a few times the threads of today's nodes, so that threads rarely use the same shard */
    SHARDS = 256,
    CACHE_LINE = 64,
    FIRST_SLOTS = 8,
    SLAB_LEAST = 256, /* bytes */
    SLAB_MOST = 65536,
    SLAB_FRACTION = 8 /* the next slab has 1 / SLAB_FRACTION of the bytes of the shard's slabs */
};

/* An element of the index; empty if VALUE is NULL. */
typedef struct slot {
    uint64_t key;
    char *value;
} slot;

/* The header of a slab; the values follow it. */
typedef struct slab {
    struct slab *next;
    size_t bytes;
} slab;

/* The memory of a removed value, to be reused. */
typedef struct spare {
    struct spare *next;
} spare;

typedef struct pool_shard {
    alignas(CACHE_LINE) pthread_mutex_t lock;
    atomic_size_t count;
    slot *slots;
    size_t capacity; /* 0 or a power of two */
    slab *slabs;
    size_t slab_bytes; /* bytes of all slabs */
    char *fresh;       /* unused values of the newest slab */
    size_t fresh_count;
    spare *spares;
} pool_shard;

struct COLL_Pool {
    size_t value_bytes;
    size_t stride; /* distance from one value to the next: VALUE_BYTES padded to 8 */
    COLL_Combine *combine;
    void *context;
    atomic_size_t held, peak;
    pool_shard shards[SHARDS];
};

void coll_pool_charge(COLL_Pool *pool, size_t bytes) {
    size_t held = atomic_fetch_add(&pool->held, bytes) + bytes, peak = atomic_load(&pool->peak);
    while (held > peak && !atomic_compare_exchange_weak(&pool->peak, &peak, held))
        continue;
}

void coll_pool_credit(COLL_Pool *pool, size_t bytes) {
    atomic_fetch_sub(&pool->held, bytes);
}

size_t coll_pool_bytes(const COLL_Pool *pool) {
    return atomic_load(&pool->held);
}

size_t coll_pool_peak(const COLL_Pool *pool) {
    return atomic_load(&pool->peak);
}

void coll_pool_restart_peak(COLL_Pool *pool) {
    atomic_store(&pool->peak, atomic_load(&pool->held));
}

size_t coll_pool_value_bytes(const COLL_Pool *pool) {
    return pool->value_bytes;
}

size_t coll_pool_pair_bytes(const COLL_Pool *pool) {
    return sizeof(uint64_t) + pool->stride;
}

int COLL_Pool_create(size_t value_bytes, COLL_Combine *combine, void *context, COLL_Pool **pool) {
    if (!combine || value_bytes == 0 || !pool)
        return MPI_ERR_ARG;
    if (value_bytes > PTRDIFF_MAX - SLAB_MOST)
        return MPI_ERR_NO_MEM;
    COLL_Pool *made = aligned_alloc(alignof(COLL_Pool), sizeof *made);
    if (!made)
        return MPI_ERR_NO_MEM;
    memset(made, 0, sizeof *made);
    made->value_bytes = value_bytes;
    made->stride = (value_bytes + 7) / 8 * 8;
    made->combine = combine;
    made->context = context;
    atomic_init(&made->held, sizeof *made);
    atomic_init(&made->peak, sizeof *made);

    for (int i = 0; i < SHARDS; i++) {
        if (pthread_mutex_init(&made->shards[i].lock, NULL) == 0)
            continue;
        while (i-- > 0)
            pthread_mutex_destroy(&made->shards[i].lock);
        free(made);
        return MPI_ERR_NO_MEM;
    }
    *pool = made;
    return MPI_SUCCESS;
}

static void empty_shard(COLL_Pool *pool, pool_shard *shard) {
    for (slab *next, *old = shard->slabs; old; old = next) {
        next = old->next;
        free(old);
    }
    free(shard->slots);
    coll_pool_credit(pool, shard->slab_bytes + shard->capacity * sizeof(slot));
    shard->slots = NULL;
    shard->capacity = 0;
    shard->slabs = NULL;
    shard->slab_bytes = 0;
    shard->fresh_count = 0;
    shard->spares = NULL;
    atomic_store(&shard->count, 0);
}

void COLL_Pool_free(COLL_Pool **pool) {
    if (!pool || !*pool)
        return;
    for (int i = 0; i < SHARDS; i++) {
        empty_shard(*pool, &(*pool)->shards[i]);
        pthread_mutex_destroy(&(*pool)->shards[i].lock);
    }
    free(*pool);
    *pool = NULL;
}

/*
 * Returns the shard of HASH. The upper half of a hash determines the owner of a key, so shard_of
 * and home_index use the lower half.
 */
static pool_shard *shard_of(COLL_Pool *pool, uint64_t hash) {
    return &pool->shards[hash % SHARDS];
}

static size_t home_index(const pool_shard *shard, uint64_t hash) {
    return (hash / SHARDS) & (shard->capacity - 1);
}

/*
 * Returns the slot that holds KEY, or the empty one where KEY belongs; NULL if there is no index.
 */
static slot *find_slot(const pool_shard *shard, uint64_t hash, uint64_t key) {
    if (shard->capacity == 0)
        return NULL;
    size_t i = home_index(shard, hash);
    while (shard->slots[i].value && shard->slots[i].key != key)
        i = (i + 1) & (shard->capacity - 1);
    return &shard->slots[i];
}

/* Allocates COUNT * SIZE zeroed bytes and charges them to POOL; NULL if out of memory. */
static void *charged_calloc(COLL_Pool *pool, size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory)
        coll_pool_charge(pool, count * size);
    return memory;
}

/* Doubles the index, or creates it. */
static int grow_index(COLL_Pool *pool, pool_shard *shard) {
    size_t old_capacity = shard->capacity;
    size_t capacity = old_capacity ? 2 * old_capacity : FIRST_SLOTS;
    slot *old = shard->slots, *slots = charged_calloc(pool, capacity, sizeof *slots);
    if (!slots)
        return MPI_ERR_NO_MEM;
    shard->slots = slots;
    shard->capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].value)
            *find_slot(shard, coll_partition_hash(old[i].key), old[i].key) = old[i];
    free(old);
    coll_pool_credit(pool, old_capacity * sizeof(slot));
    return MPI_SUCCESS;
}

static int add_slab(COLL_Pool *pool, pool_shard *shard) {
    size_t wish = shard->slab_bytes / SLAB_FRACTION;
    if (wish < SLAB_LEAST)
        wish = SLAB_LEAST;
    if (wish > SLAB_MOST)
        wish = SLAB_MOST;
    size_t values = wish > sizeof(slab) + pool->stride ? (wish - sizeof(slab)) / pool->stride : 1;
    size_t bytes = sizeof(slab) + values * pool->stride;

    slab *made = malloc(bytes);
    if (!made)
        return MPI_ERR_NO_MEM;
    coll_pool_charge(pool, bytes);
    *made = (slab){.next = shard->slabs, .bytes = bytes};
    shard->slabs = made;
    shard->slab_bytes += bytes;
    shard->fresh = (char *)(made + 1);
    shard->fresh_count = values;
    return MPI_SUCCESS;
}

/* Returns memory for one value, or NULL. */
static char *new_value(COLL_Pool *pool, pool_shard *shard) {
    if (shard->spares) {
        char *value = (char *)shard->spares;
        shard->spares = shard->spares->next;
        return value;
    }
    if (shard->fresh_count == 0 && add_slab(pool, shard) != MPI_SUCCESS)
        return NULL;
    char *value = shard->fresh;
    shard->fresh += pool->stride;
    shard->fresh_count--;
    return value;
}

static void drop_value(pool_shard *shard, char *value) {
    spare *dropped = (spare *)value;
    dropped->next = shard->spares;
    shard->spares = dropped;
}

/* Returns a copy of VALUE in the pool's memory, with the padding zeroed; NULL if out of memory. */
static char *copy_value(COLL_Pool *pool, pool_shard *shard, const void *value) {
    char *copy = new_value(pool, shard);
    if (!copy)
        return NULL;
    memcpy(copy, value, pool->value_bytes);
    memset(copy + pool->value_bytes, 0, pool->stride - pool->value_bytes);
    return copy;
}

/*
 * Combines VALUE into INTO. Combine functions may rely on alignment to 8 bytes, but callers of
 * COLL_Pool_add need not align VALUE: an unaligned VALUE is copied first.
 */
static int combine_into(COLL_Pool *pool, pool_shard *shard, char *into, const void *value) {
    if ((uintptr_t)value % 8 == 0) {
        pool->combine(into, value, pool->value_bytes, pool->context);
        return MPI_SUCCESS;
    }
    char *aligned = copy_value(pool, shard, value);
    if (!aligned)
        return MPI_ERR_NO_MEM;
    pool->combine(into, aligned, pool->value_bytes, pool->context);
    drop_value(shard, aligned);
    return MPI_SUCCESS;
}

static int add_to_shard(COLL_Pool *pool, pool_shard *shard, uint64_t hash, uint64_t key,
                        const void *value) {
    slot *place = find_slot(shard, hash, key);
    if (place && place->value)
        return combine_into(pool, shard, place->value, value);

    size_t count = atomic_load_explicit(&shard->count, memory_order_relaxed);
    if (count + 1 > shard->capacity / 4 * 3) {
        int code = grow_index(pool, shard);
        if (code != MPI_SUCCESS)
            return code;
        place = find_slot(shard, hash, key);
    }
    char *copy = copy_value(pool, shard, value);
    if (!copy)
        return MPI_ERR_NO_MEM;
    *place = (slot){.key = key, .value = copy};
    atomic_store_explicit(&shard->count, count + 1, memory_order_relaxed);
    return MPI_SUCCESS;
}

int COLL_Pool_add(COLL_Pool *pool, uint64_t key, const void *value) {
    uint64_t hash = coll_partition_hash(key);
    pool_shard *shard = shard_of(pool, hash);
    if (pthread_mutex_lock(&shard->lock) != 0)
        return MPI_ERR_INTERN;
    int code = add_to_shard(pool, shard, hash, key, value);
    if (pthread_mutex_unlock(&shard->lock) != 0)
        return MPI_ERR_INTERN;
    return code;
}

size_t COLL_Pool_size(const COLL_Pool *pool) {
    size_t size = 0;
    for (int i = 0; i < SHARDS; i++)
        size += atomic_load_explicit(&pool->shards[i].count, memory_order_relaxed);
    return size;
}

const void *COLL_Pool_find(const COLL_Pool *pool, uint64_t key) {
    uint64_t hash = coll_partition_hash(key);
    const slot *place = find_slot(&pool->shards[hash % SHARDS], hash, key);
    return place ? place->value : NULL;
}

static int by_key(const void *a, const void *b) {
    uint64_t x = ((const slot *)a)->key, y = ((const slot *)b)->key;
    return (x > y) - (x < y);
}

int COLL_Pool_visit(const COLL_Pool *pool,
                    int (*visit)(uint64_t key, const void *value, void *context), void *context) {
    size_t size = COLL_Pool_size(pool), listed = 0;
    if (size == 0)
        return 0;
    slot *order = malloc(size * sizeof *order);
    if (!order)
        return -1;
    for (const pool_shard *shard = pool->shards; shard < pool->shards + SHARDS; shard++)
        for (size_t i = 0; i < shard->capacity; i++)
            if (shard->slots[i].value)
                order[listed++] = shard->slots[i];
    qsort(order, listed, sizeof *order, by_key);

    int said = 0;
    for (size_t i = 0; i < listed && said == 0; i++)
        said = visit(order[i].key, order[i].value, context);
    free(order);
    return said;
}

/*
 * Lists the keys of each group in KEYS, from FIRST[group] on, and advances FIRST[group] to the
 * group's end. If KEYS is NULL, counts each group's keys in FIRST[group + 1] instead.
 */
static void list_groups(const COLL_Pool *pool, int (*group)(uint64_t key, const void *context),
                        const void *context, size_t *first, uint64_t *keys) {
    for (const pool_shard *shard = pool->shards; shard < pool->shards + SHARDS; shard++) {
        for (size_t i = 0; i < shard->capacity; i++) {
            int to = shard->slots[i].value ? group(shard->slots[i].key, context) : -1;
            if (to >= 0 && keys)
                keys[first[to]++] = shard->slots[i].key;
            else if (to >= 0)
                first[to + 1]++;
        }
    }
}

int coll_pool_group(COLL_Pool *pool, int count, int (*group)(uint64_t key, const void *context),
                    const void *context, coll_pool_groups *groups) {
    size_t *first = charged_calloc(pool, (size_t)count + 1, sizeof *first);
    if (!first)
        return MPI_ERR_NO_MEM;
    list_groups(pool, group, context, first, NULL);
    for (int i = 0; i < count; i++)
        first[i + 1] += first[i];

    uint64_t *keys = charged_calloc(pool, first[count] + 1, sizeof *keys);
    if (!keys) {
        free(first);
        coll_pool_credit(pool, ((size_t)count + 1) * sizeof *first);
        return MPI_ERR_NO_MEM;
    }
    list_groups(pool, group, context, first, keys);
    memmove(first + 1, first, (size_t)count * sizeof *first);
    first[0] = 0;
    *groups = (coll_pool_groups){.keys = keys, .first = first, .count = count};
    return MPI_SUCCESS;
}

void coll_pool_ungroup(COLL_Pool *pool, coll_pool_groups *groups) {
    if (!groups->first)
        return;
    coll_pool_credit(pool, (groups->first[groups->count] + 1) * sizeof *groups->keys +
                               ((size_t)groups->count + 1) * sizeof *groups->first);
    free(groups->keys);
    free(groups->first);
    *groups = (coll_pool_groups){0};
}

/*
 * Empties the slot at HOLE and moves back later entries that could no longer be found (Knuth 6.4
 * R).
 */
static void vacate_slot(pool_shard *shard, size_t hole) {
    size_t mask = shard->capacity - 1;
    for (size_t i = (hole + 1) & mask; shard->slots[i].value; i = (i + 1) & mask) {
        size_t from = home_index(shard, coll_partition_hash(shard->slots[i].key));
        if (((i - from) & mask) < ((i - hole) & mask))
            continue;
        shard->slots[hole] = shard->slots[i];
        hole = i;
    }
    shard->slots[hole].value = NULL;
}

void coll_pool_take(COLL_Pool *pool, const uint64_t *keys, size_t count, void *segment) {
    char *pair = segment;
    for (size_t i = 0; i < count; i++, pair += coll_pool_pair_bytes(pool)) {
        uint64_t hash = coll_partition_hash(keys[i]);
        pool_shard *shard = shard_of(pool, hash);
        slot *place = find_slot(shard, hash, keys[i]);
        memcpy(pair, &keys[i], sizeof keys[i]);
        memcpy(pair + sizeof keys[i], place->value, pool->stride);
        drop_value(shard, place->value);
        vacate_slot(shard, (size_t)(place - shard->slots));
        if (atomic_fetch_sub(&shard->count, 1) == 1)
            empty_shard(pool, shard);
    }
}

int coll_pool_merge(COLL_Pool *pool, const void *segment, size_t count) {
    const char *pair = segment;
    for (size_t i = 0; i < count; i++, pair += coll_pool_pair_bytes(pool)) {
        uint64_t key;
        memcpy(&key, pair, sizeof key);
        int code = COLL_Pool_add(pool, key, pair + sizeof key);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}
