/*
 * Tests sums and maxima that any number of ranks agree on, and that all ranks learn of a problem on
 * one.
 */
#include "config.h"

#include "app/agreement.h"
#include "tests/support/harness.h"

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

static Suite *agreement(void) {
    Suite *suite = suite_create("agreement");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, values_are_agreed_on);
    tcase_add_test(tests, a_problem_is_agreed_on);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 3", agreement);
}
