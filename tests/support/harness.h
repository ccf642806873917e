/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that tests share: the main function of tests without MPI; and for tests with MPI a
 * Check that runs the same on all ranks, which agree on results before they assert them.
 */
#ifndef COLL_TESTS_SUPPORT_HARNESS_H
#define COLL_TESTS_SUPPORT_HARNESS_H

#include <check.h>
#include <mpi.h>
#include <stdbool.h>

/*
 * Disables the line that Check writes to a file with every assertion that holds, to find the last
 * one before a crash. It takes most of the time of tests with many assertions. Sanitizers and
 * debuggers report more.
 */
#define _mark_point(file, line) ((void)0)

/* Adds a test unless COLL_TEST_CASE names another one, as tests/run-one sets it. */
#undef tcase_add_test
#undef tcase_add_loop_test
#define tcase_add_test(tcase, test) tcase_add_loop_test(tcase, test, 0, 1)
#define tcase_add_loop_test(tcase, test, start, end)                                               \
    (harness_wants(#test) ? tcase_add_loop_test_raise_signal(tcase, test, 0, start, end) : (void)0)

/* Returns whether COLL_TEST_CASE is unset or TEST. */
bool harness_wants(const char *test);

/* The main function of a test without MPI. Runs SUITE, frees it, and returns the exit status. */
int harness_unit(Suite *suite);

/*
 * The main function of an MPI test. Runs SUITE on MPI_COMM_WORLD and returns the exit status. With
 * the argument --ranks it prints RANKS instead, the rank counts at which tests/support/launch runs
 * the program ("1 2 3 8 free:2"; free means as if every rank had its own core).
 */
int harness_main(int argc, char **argv, const char *ranks, Suite *(*suite)(void));

/* Like harness_main, for tests that call MPI from several threads. */
int harness_main_threads(int argc, char **argv, const char *ranks, Suite *(*suite)(void));

/* Returns true on all ranks if GOOD is true on all of them. Collective over MPI_COMM_WORLD. */
bool harness_agree(bool good);

/*
 * In an MPI test a failed assertion on one rank is printed with the rank, and ends all ranks at
 * once, because the others may be waiting for this one.
 */
#define _ck_assert_failed harness_failed
_Noreturn void harness_failed(const char *file, int line, const char *expression,
                              const char *message, ...) __attribute__((format(printf, 4, 5)));

/*
 * Asserts that CONDITION holds on all ranks, and lets no rank continue before. Collective. Ranks on
 * which it does not hold print the message, with the arguments of printf.
 */
#define harness_assert(condition, ...) ck_assert_msg(harness_holds(condition), __VA_ARGS__)

/*
 * Returns GOOD. If it is true here but not on all ranks, waits for the end that the other ranks
 * cause.
 */
bool harness_holds(bool good);

/* Prints that PART of a test was skipped, as scripts/check counts it. */
void harness_skip(const char *part);

/*
 * Returns the number that the next communicator of COMM's ranks gets. Communicators that are not
 * freed make it grow. Always 0 if the MPI library does not assign the lowest free number.
 * Collective.
 */
int harness_next_communicator(MPI_Comm comm);

/*
 * Makes communicators that are set up from now on share nothing with earlier ones, by pretending
 * that their node has other processes. Call it on all ranks.
 */
void harness_another_job(void);

/*
 * Makes the program read and write numbers with a decimal comma until harness_point, as
 * setlocale(LC_ALL, "") does in half of Europe. If no such locale can be made, prints that and
 * returns false.
 */
bool harness_comma(void);
void harness_point(void);

/*
 * Returns whether PROVE is HOW_MUCH: "all" for proofs that take minutes, or "few" for sanitizers,
 * which slow computations down.
 */
bool harness_proves(const char *how_much);

/*
 * Return the class and the text of an error code, from the MPI library; the text of MPI_SUCCESS is
 * "".
 */
int harness_class(int code);
const char *harness_text(int code);

#endif
