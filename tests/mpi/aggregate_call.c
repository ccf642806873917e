/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests COLL_Aggregate: a small aggregation, and errors that reach the communicator's handler. */
#include "coll.h"
#include "tests/support/harness.h"

#include <string.h>

static int handled; /* number of errors that the handler received */

static void count_error(MPI_Comm *comm, int *code, ...) {
    (void)comm, (void)code;
    handled++;
}

/* Gives COMM a handler that counts errors. Returns the previous handler, for unwatch. */
static MPI_Errhandler watch(MPI_Comm comm) {
    MPI_Errhandler counting, before;
    MPI_Comm_get_errhandler(comm, &before);
    MPI_Comm_create_errhandler(count_error, &counting);
    MPI_Comm_set_errhandler(comm, counting);
    MPI_Errhandler_free(&counting);
    handled = 0;
    return before;
}

static void unwatch(MPI_Comm comm, MPI_Errhandler before) {
    MPI_Comm_set_errhandler(comm, before);
    MPI_Errhandler_free(&before);
}

static bool is_error(int code, int expected, const char *part) {
    return harness_class(code) == expected && strstr(harness_text(code), part);
}

static void add(void *into, const void *from, size_t bytes, void *context) {
    (void)bytes, (void)context;
    *(int64_t *)into += *(const int64_t *)from;
}

static COLL_Pool *pool_with(uint64_t key, int64_t value) {
    COLL_Pool *pool = NULL;
    ck_assert_int_eq(COLL_Pool_create(sizeof value, add, NULL, &pool), MPI_SUCCESS);
    ck_assert_int_eq(COLL_Pool_add(pool, key, &value), MPI_SUCCESS);
    return pool;
}

START_TEST(sums) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    COLL_Pool *pool = pool_with(UINT64_MAX, rank + 1);
    int code = COLL_Aggregate(pool, ranks - 1, MPI_COMM_WORLD, NULL);
    const int64_t *sum = COLL_Pool_find(pool, UINT64_MAX);
    bool good = code == MPI_SUCCESS;
    if (rank == ranks - 1)
        good = good && sum && *sum == (int64_t)ranks * (ranks + 1) / 2;
    else
        good = good && !sum;
    COLL_Pool_free(&pool);
    harness_assert(good, "sum");
}
END_TEST

START_TEST(errors_are_raised) {
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Errhandler before = watch(MPI_COMM_WORLD);
    COLL_Pool *pool = pool_with(1, 1);
    int null_pool = COLL_Aggregate(NULL, 0, MPI_COMM_WORLD, NULL);
    bool good = is_error(null_pool, MPI_ERR_ARG, "pool is NULL") && handled == 1;
    int root = COLL_Aggregate(pool, ranks, MPI_COMM_WORLD, NULL);
    good = good && is_error(root, MPI_ERR_ROOT, "root") && handled == 2;
    int null_comm = COLL_Aggregate(pool, 0, MPI_COMM_NULL, NULL);
    good = good && is_error(null_comm, MPI_ERR_COMM, "null") && handled == 3;
    good = good && COLL_Pool_size(pool) == 1;
    COLL_Pool_free(&pool);
    unwatch(MPI_COMM_WORLD, before);
    harness_assert(good, "errors and their handler");
}
END_TEST

START_TEST(intercommunicators_are_refused) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2)
        return;
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter);
    MPI_Errhandler before = watch(inter);
    COLL_Pool *pool = pool_with(1, 1);
    int code = COLL_Aggregate(pool, 0, inter, NULL);
    bool good = is_error(code, MPI_ERR_COMM, "MPI_Intercomm_merge") && handled == 1;
    COLL_Pool_free(&pool);
    unwatch(inter, before);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    harness_assert(good, "intercommunicator");
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("aggregate_call");
    TCase *cases = tcase_create("aggregate_call");
    tcase_add_test(cases, sums);
    tcase_add_test(cases, errors_are_raised);
    tcase_add_test(cases, intercommunicators_are_refused);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 5 free:2", suite);
}
