/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors occur in several threads at the same time, and each thread finds the text of its own. */
#include "config.h"

#include "lib/base/error.h"
#include "tests/support/harness.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 6, ERRORS = 2000 };

/* Returns how many errors of the thread NUMBER had the text of another thread. */
static void *fail_often(void *number) {
    static char wrong[THREADS][64];
    int thread = *(int *)number;
    for (int i = 0; i < ERRORS; i++) {
        char expected[64], text[MPI_MAX_ERROR_STRING];
        int length;
        snprintf(expected, sizeof expected, "thread %d, error %d", thread, i);
        int code = coll_error(MPI_ERR_ARG, "%s", expected);
        PMPI_Error_string(code, text, &length);
        if (strcmp(text, expected) != 0) {
            snprintf(wrong[thread], sizeof wrong[thread], "%.60s", expected);
            return wrong[thread];
        }
    }
    return NULL;
}

/* Runs twice, so that the second threads get the codes of the first. */
START_TEST(each_thread_has_its_own_texts) {
    for (int round = 0; round < 2; round++) {
        pthread_t threads[THREADS];
        int numbers[THREADS];
        char *wrong[THREADS];
        for (int i = 0; i < THREADS; i++) {
            numbers[i] = i;
            ck_assert_int_eq(pthread_create(&threads[i], NULL, fail_often, &numbers[i]), 0);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], (void **)&wrong[i]);
        for (int i = 0; i < THREADS; i++)
            ck_assert_msg(!wrong[i], "another text in place of \"%s\"", wrong[i]);
    }
}
END_TEST

START_TEST(a_class_is_kept) {
    ck_assert_int_eq(harness_class(coll_error(MPI_ERR_ROOT, "%d", 1)), MPI_ERR_ROOT);
    ck_assert_int_eq(harness_class(coll_error(MPI_ERR_COUNT, "%d", 2)), MPI_ERR_COUNT);
    ck_assert_str_eq(harness_text(coll_error(MPI_ERR_ROOT, "root %d", 3)), "root 3");
}
END_TEST

static Suite *errors(void) {
    Suite *suite = suite_create("errors");
    TCase *tests = tcase_create("texts");
    tcase_add_test(tests, each_thread_has_its_own_texts);
    tcase_add_test(tests, a_class_is_kept);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main_threads(argc, argv, "1", errors);
}
