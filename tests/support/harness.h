/*
 * What the tests share: the main of those without MPI, and for those with MPI a Check that runs
 * alike on all ranks, with verdicts agreed before they are asserted.
 */
#ifndef COLL_TESTS_SUPPORT_HARNESS_H
#define COLL_TESTS_SUPPORT_HARNESS_H

#include <check.h>
#include <mpi.h>
#include <stdbool.h>

/*
 * Check writes a line to a file with every assertion that holds, to tell the last one before a
 * crash: most of the time of tests that assert much. Sanitizers and debuggers tell more.
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

/* The main of a test without MPI: runs SUITE, frees it, and returns the exit status. */
int harness_unit(Suite *suite);

/*
 * The main of an MPI test: runs SUITE on MPI_COMM_WORLD and returns the exit status. With the
 * argument --ranks it prints RANKS instead, the rank counts at which tests/support/launch runs the
 * program ("1 2 3 8 free:2"; free: as if every rank had a core of its own).
 */
int harness_main(int argc, char **argv, const char *ranks, Suite *(*suite)(void));

/* The same for tests that call MPI from several threads. */
int harness_main_threads(int argc, char **argv, const char *ranks, Suite *(*suite)(void));

/* True on all ranks when GOOD is true on all of them; collective over MPI_COMM_WORLD. */
bool harness_agree(bool good);

/*
 * In an MPI test whatever Check finds wrong on one rank is told, with the rank, and ends all of
 * them at once: the others may be waiting for this one.
 */
#define _ck_assert_failed harness_failed
_Noreturn void harness_failed(const char *file, int line, const char *expression,
                              const char *message, ...) __attribute__((format(printf, 4, 5)));

/*
 * Asserts that CONDITION holds on all ranks, and has no rank go on before; collective. Those where
 * it doesn't hold tell so. The message arguments are printf's.
 */
#define harness_assert(condition, ...) ck_assert_msg(harness_holds(condition), __VA_ARGS__)

/* GOOD; but where it is true here and not everywhere, waits for the end that the others bring. */
bool harness_holds(bool good);

/* Says that PART of a test was left out, as scripts/check counts it. */
void harness_skip(const char *part);

/*
 * The number that the next communicator of COMM's ranks gets: those that are left behind make it
 * grow. Always 0 where the MPI library does not give the lowest one that is free. Collective.
 */
int harness_next_communicator(MPI_Comm comm);

/*
 * Communicators that are set up from now on have nothing in common with earlier ones: their node is
 * said to have other processes. To be called on all ranks.
 */
void harness_another_job(void);

/*
 * Has the program read and write numbers with a decimal comma, as after setlocale(LC_ALL, "") in
 * half of Europe, until harness_point. False, and says so, where no such locale can be made.
 */
bool harness_comma(void);
void harness_point(void);

/* Whether PROVE is HOW_MUCH: "all" of what takes minutes, or "few", for sanitizers, which make what
 * computes slow. */
bool harness_proves(const char *how_much);

/* The class and the text of an error code, as the MPI library tells them; "" for MPI_SUCCESS. */
int harness_class(int code);
const char *harness_text(int code);

#endif
