/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests COLL_Pool: keys, combination, order, threads, the amount of memory, and running out of it.
 */
#include "lib/aggregate/pool.h"

#include "tests/support/allocations.h"
#include "tests/support/harness.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8 };

static void sum(void *into, const void *from, size_t bytes, void *context) {
    (void)context;
    ck_assert_uint_eq((uintptr_t)into % 8, 0);
    ck_assert_uint_eq((uintptr_t)from % 8, 0);
    for (size_t i = 0; i < bytes / sizeof(uint32_t); i++)
        ((uint32_t *)into)[i] += ((const uint32_t *)from)[i];
}

static COLL_Pool *new_pool(size_t value_bytes) {
    COLL_Pool *pool = NULL;
    ck_assert_int_eq(COLL_Pool_create(value_bytes, sum, NULL, &pool), MPI_SUCCESS);
    return pool;
}

static void add(COLL_Pool *pool, uint64_t key, uint64_t number) {
    uint64_t value = number;
    ck_assert_int_eq(COLL_Pool_add(pool, key, &value), MPI_SUCCESS);
}

static uint64_t number_at(const COLL_Pool *pool, uint64_t key) {
    const uint64_t *value = COLL_Pool_find(pool, key);
    ck_assert_ptr_nonnull(value);
    return *value;
}

START_TEST(bad_arguments) {
    COLL_Pool *pool = NULL;
    ck_assert_int_eq(COLL_Pool_create(8, NULL, NULL, &pool), MPI_ERR_ARG);
    ck_assert_int_eq(COLL_Pool_create(0, sum, NULL, &pool), MPI_ERR_ARG);
    ck_assert_int_eq(COLL_Pool_create(8, sum, NULL, NULL), MPI_ERR_ARG);
    ck_assert_int_eq(COLL_Pool_create(SIZE_MAX, sum, NULL, &pool), MPI_ERR_NO_MEM);
    ck_assert_ptr_null(pool);
    COLL_Pool_free(&pool);
    COLL_Pool_free(NULL);
}
END_TEST

static int never(uint64_t key, const void *value, void *context) {
    (void)key, (void)value, (void)context;
    ck_abort_msg("visited a pair of an empty pool");
    return 1;
}

START_TEST(empty) {
    COLL_Pool *pool = new_pool(8);
    ck_assert_uint_eq(COLL_Pool_size(pool), 0);
    ck_assert_ptr_null(COLL_Pool_find(pool, 0));
    ck_assert_int_eq(COLL_Pool_visit(pool, never, NULL), 0);
    COLL_Pool_free(&pool);
    ck_assert_ptr_null(pool);
}
END_TEST

START_TEST(extreme_keys) {
    COLL_Pool *pool = new_pool(8);
    const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, UINT32_MAX};
    for (int round = 1; round <= 3; round++)
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            add(pool, keys[i], i + 1);
    ck_assert_uint_eq(COLL_Pool_size(pool), sizeof keys / sizeof *keys);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ck_assert_uint_eq(number_at(pool, keys[i]), 3 * (i + 1));
    ck_assert_ptr_null(COLL_Pool_find(pool, 2));
    COLL_Pool_free(&pool);
}
END_TEST

typedef struct tour {
    uint64_t last;
    size_t seen, stop_after;
} tour;

static int ascending(uint64_t key, const void *value, void *context) {
    tour *walk = context;
    ck_assert(walk->seen == 0 || key > walk->last);
    ck_assert_uint_eq(*(const uint64_t *)value, key ^ 5);
    walk->last = key;
    return ++walk->seen == walk->stop_after ? 42 : 0;
}

START_TEST(visits_in_order) {
    COLL_Pool *pool = new_pool(8);
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t key = i * UINT64_C(0x9e3779b97f4a7c15);
        add(pool, key, key ^ 5);
    }
    tour whole = {0};
    ck_assert_int_eq(COLL_Pool_visit(pool, ascending, &whole), 0);
    ck_assert_uint_eq(whole.seen, 10000);
    tour part = {.stop_after = 17};
    ck_assert_int_eq(COLL_Pool_visit(pool, ascending, &part), 42);
    ck_assert_uint_eq(part.seen, 17);
    COLL_Pool_free(&pool);
}
END_TEST

/* Tests sizes that are not multiples of 8, and values at odd addresses. */
START_TEST(odd_values) {
    static const size_t sizes[] = {4, 12, 520, 4096, 100004};
    COLL_Pool *pool = new_pool(sizes[_i]);
    size_t words = sizes[_i] / sizeof(uint32_t);
    char *memory = malloc(sizes[_i] + 1);
    ck_assert_ptr_nonnull(memory);
    for (uint32_t key = 0; key < 100; key++) {
        for (int times = 0; times < 3; times++) {
            for (size_t w = 0; w < words; w++) {
                uint32_t word = key + (uint32_t)w;
                memcpy(memory + 1 + w * sizeof word, &word, sizeof word);
            }
            ck_assert_int_eq(COLL_Pool_add(pool, key, memory + 1), MPI_SUCCESS);
        }
    }
    for (uint32_t key = 0; key < 100; key++) {
        const uint32_t *value = COLL_Pool_find(pool, key);
        ck_assert_uint_eq((uintptr_t)value % 8, 0);
        for (size_t w = 0; w < words; w++)
            ck_assert_uint_eq(value[w], 3 * (key + (uint32_t)w));
    }
    free(memory);
    COLL_Pool_free(&pool);
}
END_TEST

enum { PER_THREAD = 40000, DISTINCT = 5000 };

static void *adder(void *argument) {
    COLL_Pool *pool = argument;
    for (uint64_t i = 0; i < PER_THREAD; i++) {
        const uint64_t value = i;
        if (COLL_Pool_add(pool, i % DISTINCT, &value) != MPI_SUCCESS)
            return pool;
    }
    return NULL;
}

START_TEST(threads_add) {
    COLL_Pool *pool = new_pool(8);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, adder, pool), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
    ck_assert_uint_eq(COLL_Pool_size(pool), DISTINCT);
    uint64_t rounds = PER_THREAD / DISTINCT, steps = rounds * (rounds - 1) / 2;
    for (uint64_t key = 0; key < DISTINCT; key++) {
        uint64_t sum_of_values = THREADS * (rounds * key + steps * DISTINCT);
        ck_assert_uint_eq((uint32_t)number_at(pool, key), (uint32_t)sum_of_values);
    }
    COLL_Pool_free(&pool);
}
END_TEST

static int last_digit(uint64_t key, const void *context) {
    int groups = *(const int *)context;
    int digit = (int)(key % 10);
    return digit < groups ? digit : -1;
}

/* Moving groups of keys from one pool to another and back does not change any pair. */
START_TEST(moves_groups) {
    enum { KEYS = 20000, GROUPS = 7 };
    COLL_Pool *from = new_pool(12), *into = new_pool(12);
    size_t empty_bytes = coll_pool_bytes(from);
    for (uint32_t key = 0; key < KEYS; key++) {
        const uint32_t value[3] = {key, 2 * key, 3 * key};
        ck_assert_int_eq(COLL_Pool_add(from, key, value), MPI_SUCCESS);
    }
    ck_assert_uint_eq(coll_pool_pair_bytes(from), 24);

    const int group_count = GROUPS;
    coll_pool_groups groups;
    ck_assert_int_eq(coll_pool_group(from, GROUPS, last_digit, &group_count, &groups), MPI_SUCCESS);
    ck_assert_int_eq(groups.count, GROUPS);
    char *segment = malloc(KEYS / 10 * coll_pool_pair_bytes(from));
    ck_assert_ptr_nonnull(segment);
    for (int g = 0; g < GROUPS; g++) {
        size_t count = groups.first[g + 1] - groups.first[g];
        ck_assert_uint_eq(count, KEYS / 10);
        coll_pool_take(from, groups.keys + groups.first[g], count, segment);
        ck_assert_int_eq(coll_pool_merge(into, segment, count), MPI_SUCCESS);
        ck_assert_int_eq(coll_pool_merge(into, segment, count), MPI_SUCCESS);
    }
    coll_pool_ungroup(from, &groups);
    coll_pool_ungroup(from, &groups);

    ck_assert_uint_eq(COLL_Pool_size(from), KEYS / 10 * (10 - GROUPS));
    ck_assert_uint_eq(COLL_Pool_size(into), KEYS / 10 * GROUPS);
    for (uint32_t key = 0; key < KEYS; key++) {
        bool moved = key % 10 < GROUPS;
        const uint32_t *left = COLL_Pool_find(from, key), *there = COLL_Pool_find(into, key);
        ck_assert(moved ? !left && there : left && !there);
        ck_assert_uint_eq(moved ? there[1] : left[1], moved ? 4 * key : 2 * key);
    }

    /* Taking the remaining keys frees all memory. */
    const int all = 10;
    ck_assert_int_eq(coll_pool_group(from, 10, last_digit, &all, &groups), MPI_SUCCESS);
    for (int g = 0; g < 10; g++)
        coll_pool_take(from, groups.keys + groups.first[g], groups.first[g + 1] - groups.first[g],
                       segment);
    coll_pool_ungroup(from, &groups);
    ck_assert_uint_eq(COLL_Pool_size(from), 0);
    ck_assert_uint_eq(coll_pool_bytes(from), empty_bytes);
    free(segment);
    COLL_Pool_free(&from);
    COLL_Pool_free(&into);
}
END_TEST

/*
 * Memory is proportional to the keys: 100,000 of a million possible ones, without peaks while it
 * grows.
 */
START_TEST(memory_follows_keys) {
    enum { TOUCHED = 100000, VALUE = 520, PAIR = VALUE + 8 };
    COLL_Pool *pool = new_pool(VALUE);
    char *value = calloc(1, VALUE);
    ck_assert_ptr_nonnull(value);
    for (uint64_t i = 0; i < TOUCHED; i++) {
        uint64_t key = i * 389 % 1000000; /* 389 is coprime to a million, so no key occurs twice */
        ck_assert_int_eq(COLL_Pool_add(pool, key, value), MPI_SUCCESS);
        ck_assert_uint_le(coll_pool_bytes(pool), 128 * 1024 + (i + 1) * PAIR * 5 / 4);
    }
    ck_assert_uint_eq(COLL_Pool_size(pool), TOUCHED);
    ck_assert_uint_le(coll_pool_peak(pool), TOUCHED * (size_t)PAIR * 115 / 100);
    free(value);
    COLL_Pool_free(&pool);
}
END_TEST

/* When memory runs out, the pool refuses the key, keeps the others and works again later. */
START_TEST(out_of_memory) {
    COLL_Pool *pool = new_pool(24);
    const uint64_t value[3] = {1, 2, 3};
    uint64_t key = 0;
    for (int round = 0; round < 1000; round++) {
        int code;
        allocation_countdown = 1;
        while ((code = COLL_Pool_add(pool, key, value)) == MPI_SUCCESS)
            key++;
        ck_assert_int_eq(code, MPI_ERR_NO_MEM);
        ck_assert_uint_eq(COLL_Pool_size(pool), key);
        ck_assert_ptr_null(COLL_Pool_find(pool, key));
        ck_assert_int_eq(COLL_Pool_add(pool, key++, value), MPI_SUCCESS);
    }
    ck_assert_uint_gt(key, 1000);
    for (uint64_t k = 0; k < key; k++)
        ck_assert_uint_eq(number_at(pool, k), 1);

    /* Values are added to existing keys without new memory. Listing keys needs some. */
    size_t before = coll_pool_bytes(pool);
    int code = COLL_Pool_add(pool, 0, value);
    ck_assert_int_eq(code, MPI_SUCCESS);
    ck_assert_uint_eq(coll_pool_bytes(pool), before);
    coll_pool_groups groups;
    const int all = 10;
    for (int nth = 1; nth <= 2; nth++) {
        allocation_countdown = nth;
        code = coll_pool_group(pool, 10, last_digit, &all, &groups);
        ck_assert_int_eq(code, MPI_ERR_NO_MEM);
        ck_assert_uint_eq(coll_pool_bytes(pool), before);
    }
    COLL_Pool_free(&pool);
}
END_TEST

START_TEST(account) {
    COLL_Pool *pool = new_pool(8);
    size_t start = coll_pool_bytes(pool);
    coll_pool_charge(pool, 1000);
    ck_assert_uint_eq(coll_pool_bytes(pool), start + 1000);
    coll_pool_credit(pool, 1000);
    ck_assert_uint_eq(coll_pool_peak(pool), start + 1000);
    coll_pool_restart_peak(pool);
    ck_assert_uint_eq(coll_pool_peak(pool), start);
    COLL_Pool_free(&pool);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("pool");
    TCase *cases = tcase_create("pool");
    tcase_add_test(cases, bad_arguments);
    tcase_add_test(cases, empty);
    tcase_add_test(cases, extreme_keys);
    tcase_add_test(cases, visits_in_order);
    tcase_add_loop_test(cases, odd_values, 0, 5);
    tcase_add_test(cases, threads_add);
    tcase_add_test(cases, moves_groups);
    tcase_add_test(cases, memory_follows_keys);
    tcase_add_test(cases, out_of_memory);
    tcase_add_test(cases, account);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
