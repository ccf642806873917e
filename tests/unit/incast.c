/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the window of a gather with cases computed by hand, from eq. 3 to 8 of Tam and Wang. */
#include "config.h"

#include "lib/pattern/incast.h"
#include "tests/support/harness.h"

#include <check.h>
#include <math.h>

static const double exact = 1e-12;

/* Eq. 4: returns the share of ITEMS that gets through. */
static double transfer_ratio(double buffer, double arrival, double departure, double items) {
    if (items <= buffer || arrival <= departure)
        return 1;
    return fmin(departure / arrival + buffer / items, 1);
}

/*
 * 60 items arrive, 3 each second for 20 s. After 5 s the buffer of 10 is full, and 15 have arrived.
 * Of the other 45 a third gets through. 15 + 15 of 60 is 1/2 = 1/3 + 10/60.
 */
START_TEST(eq_4_what_gets_through) {
    ck_assert_double_eq_tol(transfer_ratio(10, 3, 1, 60), 0.5, exact);
    ck_assert_double_eq_tol(transfer_ratio(10, 3, 1, 15), 1, exact);
    ck_assert_double_eq_tol(transfer_ratio(10, 3, 1, 5), 1, exact);
    ck_assert_double_eq_tol(transfer_ratio(10, 1, 1, 1e9), 1, exact);
    ck_assert_double_eq_tol(transfer_ratio(0, 4, 1, 60), 0.25, exact);
}
END_TEST

START_TEST(eq_5_the_fewest_senders) {
    ck_assert_int_eq(coll_incast_fewest(1, 1), 1);
    ck_assert_int_eq(coll_incast_fewest(2.5, 1), 3);
    ck_assert_int_eq(coll_incast_fewest(0.5, 1), 1);
    /* Tam and Wang, table 1, at 1500 bytes: gs = 122.427, gr = 123.186 us. */
    ck_assert_int_eq(coll_incast_fewest(122.427, 123.186), 1);
}
END_TEST

/* With x <= (gs / gr) / (1 - B / k) the ratio of eq. 4 is 1, and with one more sender it is not. */
START_TEST(eq_6_the_most_senders) {
    ck_assert_int_eq(coll_incast_most(1, 1, 10, 10, 15), 15);
    ck_assert_int_eq(coll_incast_most(1, 1, 30, 60, 15), 2);
    ck_assert_int_eq(coll_incast_most(3, 1, 20, 60, 15), 4);
    ck_assert_int_eq(coll_incast_most(1, 1, 59, 60, 15), 15);
    ck_assert_int_eq(coll_incast_most(1, 1, 10, 1e9, 15), 1);
    for (int x = 1; x <= 15; x++) {
        double ratio = transfer_ratio(20, x / 3.0, 1, 60);
        ck_assert_int_eq(x <= coll_incast_most(3, 1, 20, 60, 15), ratio > 1 - exact);
    }
}
END_TEST

START_TEST(eq_7_the_window) {
    ck_assert_int_eq(coll_incast_window(1, 4, 15), 4); /* 15 = 3 x 4 + 3 */
    ck_assert_int_eq(coll_incast_window(3, 7, 15),
                     6); /* 2 x 7 + 1 leaves too few in the last group, 2 x 6 + 3 does not */
    ck_assert_int_eq(coll_incast_window(4, 6, 14),
                     5); /* 2 x 6 + 2 leaves too few in the last group, 2 x 5 + 4 does not */
    ck_assert_int_eq(coll_incast_window(4, 4, 14),
                     4); /* 3 x 4 + 2 leaves too few, but there is no other choice */
    ck_assert_int_eq(coll_incast_window(2, 5, 15), 5); /* 3 x 5: the last group is whole */
    ck_assert_int_eq(coll_incast_window(3, 1, 15),
                     3); /* if the bounds contradict, the link must be full */
    ck_assert_int_eq(coll_incast_window(4, 9, 3), 3);
    ck_assert_int_eq(coll_incast_window(1, 1, 1), 1);
}
END_TEST

START_TEST(a_stall_halves_the_window) {
    ck_assert_double_eq_tol(coll_incast_share(1, false), 1, exact);
    ck_assert_double_eq_tol(coll_incast_share(1, true), 0.5, exact);
    ck_assert_double_eq_tol(coll_incast_share(0.5, false), 0.5625, exact);
    ck_assert_double_eq_tol(coll_incast_share(0.0625, true), 0.0625, exact);
    ck_assert_double_eq_tol(coll_incast_share(0.9, false), 1, exact);
}
END_TEST

/* 15 ranks with 1 MB each over 12.5 MB/s. */
START_TEST(eq_8_the_time) {
    ck_assert_double_eq_tol(coll_incast_seconds(1e-4, 15e6, 12.5e6, 2e-4), 1.2003, exact);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("incast");
    TCase *tests = tcase_create("equations");
    tcase_add_test(tests, eq_4_what_gets_through);
    tcase_add_test(tests, eq_5_the_fewest_senders);
    tcase_add_test(tests, eq_6_the_most_senders);
    tcase_add_test(tests, eq_7_the_window);
    tcase_add_test(tests, a_stall_halves_the_window);
    tcase_add_test(tests, eq_8_the_time);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}
