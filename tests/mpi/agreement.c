/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums and largest values that ranks agree on, of any number; and that all learn of a problem, also
 * of one that a rank has in a benchmark. Errors of the MPI library during an agreement.
 */
#include "config.h"

#include "app/agreement.h"
#include "coll.h"
#include "lib/base/agree.h"
#include "tests/support/harness.h"
#include "tools/bench/bench.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 20 };

START_TEST(values_are_agreed_on) {
    app_problem problem = {""};
    const uint64_t rank = (uint64_t)app_rank(MPI_COMM_WORLD);
    const uint64_t ranks = (uint64_t)app_ranks(MPI_COMM_WORLD);
    for (int count = 0; count <= MOST; count++) {
        uint64_t sums[MOST + 1];
        double most[MOST + 1];
        for (uint64_t i = 0; i <= MOST; i++) {
            sums[i] = i + rank;
            most[i] = (double)(i * (rank + 1));
        }
        harness_assert(app_agree_sum(&problem, sums, count, MPI_COMM_WORLD), "%s", problem.text);
        harness_assert(app_agree_most(&problem, most, count, MPI_COMM_WORLD), "%s", problem.text);
        for (uint64_t i = 0; i < (uint64_t)count; i++) {
            ck_assert_uint_eq(sums[i], i * ranks + ranks * (ranks - 1) / 2);
            ck_assert_double_eq(most[i], (double)(i * ranks));
        }
        ck_assert_uint_eq(sums[count], (uint64_t)count + rank);
        ck_assert_double_eq(most[count], (double)((uint64_t)count * (rank + 1)));
    }
}
END_TEST

START_TEST(a_problem_is_agreed_on) {
    uint64_t sums[MOST] = {0};
    app_problem problem = {""};
    if (app_rank(MPI_COMM_WORLD) == app_ranks(MPI_COMM_WORLD) - 1)
        app_refuse(&problem, "the last rank's");
    harness_assert(!app_agree_sum(&problem, sums, MOST, MPI_COMM_WORLD), "a problem is lost");
    ck_assert_str_eq(problem.text, "the last rank's");
}
END_TEST

/* Fails on every rank but the first: the error of each has a text of its own. */
static int fail_here(const contender *c, const operation_run *run) {
    char text[40];
    int class, code = MPI_SUCCESS;
    (void)c;
    if (run->rank == 0)
        return code;
    snprintf(text, sizeof text, "rank %d's", run->rank);
    MPI_Add_error_class(&class);        /* MPICH 4.0 finds no text of codes in MPI's classes */
    for (int i = 0; i < run->rank; i++) /* the later the rank, the larger its code */
        MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, text);
    return code;
}

START_TEST(benchmarks_agree_on_the_first_error) {
    contender failing = {.algorithm = "failing", .comm = MPI_COMM_WORLD, .run = fail_here};
    contender_list list = {&failing, 1};
    const bench_settings settings = {
        .operation = operation_find("bcast"), .least = 1, .most = 1, .seconds = 1};
    bench_result result;
    app_clock clock;
    harness_assert(app_clock_init(&clock, MPI_COMM_WORLD) == MPI_SUCCESS, "clocks");
    int code = bench_run(&list, 64, &settings, &clock, MPI_COMM_WORLD, &result);
    harness_assert(code == MPI_SUCCESS, "error %d", code);
    const char *expected = app_ranks(MPI_COMM_WORLD) > 1 ? "rank 1's" : "";
    harness_assert(strcmp(result.problem.text, expected) == 0, "said: %s", result.problem.text);
    bench_free(&result, 1);
}
END_TEST

/* Among the first SIZE ranks each one has the largest number in one place. */
static void check_highest(int size) {
    const int rank = app_rank(MPI_COMM_WORLD);
    int64_t numbers[COLL_AGREE_MOST], highest[COLL_AGREE_MOST];
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, 0, &comm);
    if (comm == MPI_COMM_NULL)
        return;
    ck_assert_int_eq(COLL_Set(comm, "bcast", "auto"), MPI_SUCCESS);
    for (int i = 0; i < COLL_AGREE_MOST; i++)
        numbers[i] = i % size == rank ? 100 + i : -rank;
    ck_assert_int_eq(coll_agree_highest(coll_comm_find(comm), COLL_AGREE_MOST, numbers, highest),
                     MPI_SUCCESS);
    for (int i = 0; i < COLL_AGREE_MOST; i++)
        ck_assert_int_eq(highest[i], 100 + i);
    MPI_Comm_free(&comm);
}

START_TEST(the_highest_numbers_are_agreed_on) {
    for (int size = 1; size <= app_ranks(MPI_COMM_WORLD); size++)
        check_highest(size);
}
END_TEST

/* Replaces the function of MPI: it fails if FAILS. */
static bool fails;
int PMPI_Testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[]) {
    return fails ? MPI_ERR_OTHER : MPI_Testall(count, requests, done, statuses);
}

/* After an error of a nonblocking agreement no call may use the communicator: messages of the
 * agreement may still arrive. */
START_TEST(an_error_breaks_the_communicator) {
    const int64_t rank = app_rank(MPI_COMM_WORLD);
    MPI_Comm comm;
    coll_agreement one;
    bool done;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ck_assert_int_eq(COLL_Set(comm, "bcast", "auto"), MPI_SUCCESS);
    coll_comm *own = coll_comm_find(comm);
    ck_assert_int_eq(coll_agreement_start(&one, own, COLL_TAG_LEARN, 1, &rank), MPI_SUCCESS);
    ck_assert_int_eq(own->broken, MPI_SUCCESS);
    fails = true;
    const int code = coll_agreement_advance(&one, &done);
    fails = false;
    ck_assert_int_eq(code, own->ranks > 1 ? MPI_ERR_OTHER : MPI_SUCCESS);
    ck_assert_int_eq(own->broken, code);
    for (done = false; !done;)
        coll_agreement_advance(&one, &done);
    MPI_Comm_free(&comm);
}
END_TEST

static Suite *agreement(void) {
    Suite *suite = suite_create("agreement");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, values_are_agreed_on);
    tcase_add_test(tests, a_problem_is_agreed_on);
    tcase_add_test(tests, the_highest_numbers_are_agreed_on);
    tcase_add_test(tests, an_error_breaks_the_communicator);
    tcase_add_test(tests, benchmarks_agree_on_the_first_error);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 3 8", agreement);
}
