/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the cost model with values computed by hand: curves, their continuation beyond the knots
 * and their defaults; L with its dependence on the network's rate; fits of points.
 */
#include "config.h"

#include "lib/cost/cost.h"
#include "tests/support/harness.h"
#include "tools/profile/fit.h"
#include "tools/profile/flood.h"

#include <check.h>

static const double exact = 1e-15;

START_TEST(curves_are_straight_between_knots_and_beyond) {
    const COLL_Curve curve = {.knots = 3, .bytes = {10, 20, 40}, .seconds = {1, 2, 2.5}};
    ck_assert_double_eq_tol(COLL_Curve_at(&curve, 0), 1, exact);
    ck_assert_double_eq_tol(COLL_Curve_at(&curve, 10), 1, exact);
    ck_assert_double_eq_tol(COLL_Curve_at(&curve, 15), 1.5, exact);
    ck_assert_double_eq_tol(COLL_Curve_at(&curve, 20), 2, exact);
    ck_assert_double_eq_tol(COLL_Curve_at(&curve, 30), 2.25, exact);
    ck_assert_double_eq_tol(COLL_Curve_at(&curve, 80), 3.5, exact);
    const COLL_Curve constant = {.knots = 1, .bytes = {7}, .seconds = {0.5}};
    ck_assert_double_eq_tol(COLL_Curve_at(&constant, 0), 0.5, exact);
    ck_assert_double_eq_tol(COLL_Curve_at(&constant, 1e9), 0.5, exact);
}
END_TEST

/*
 * Latency 10, overhead 2 and 0.5 for each byte: Os is 2, Or and Ur are 1 each, and L starts at 6.
 */
START_TEST(what_was_not_measured_follows_from_the_summary) {
    const coll_cost cost = {.latency = 10, .overhead = 2, .per_byte = 0.5};
    ck_assert_double_eq_tol(coll_cost_send_overhead(&cost, 100), 2, exact);
    ck_assert_double_eq_tol(coll_cost_arrival_overhead(&cost, 100), 1, exact);
    ck_assert_double_eq_tol(coll_cost_receive_overhead(&cost, 100), 1, exact);
    ck_assert_double_eq_tol(coll_cost_send_gap(&cost, 100), 52, exact);
    ck_assert_double_eq_tol(coll_cost_receive_gap(&cost, 100), 52, exact);
    ck_assert_double_eq_tol(coll_cost_transfer(&cost, 100), 6 + 50, exact);
    ck_assert_double_eq_tol(coll_cost_message(&cost, 100), 60, exact);
    ck_assert_double_eq_tol(coll_cost_message(&cost, 0), 10, exact);
}
END_TEST

START_TEST(measured_curves_come_first) {
    coll_cost cost = {.latency = 10, .overhead = 2, .per_byte = 0.5};
    cost.curve[COLL_SEND_OVERHEAD] = (COLL_Curve){.knots = 2, .bytes = {0, 10}, .seconds = {1, 2}};
    cost.curve[COLL_TRANSFER] = (COLL_Curve){.knots = 2, .bytes = {0, 10}, .seconds = {3, 8}};
    cost.curve[COLL_RECEIVE_GAP] = (COLL_Curve){.knots = 1, .seconds = {9}};
    ck_assert_double_eq_tol(coll_cost_send_overhead(&cost, 5), 1.5, exact);
    ck_assert_double_eq_tol(coll_cost_receive_gap(&cost, 5), 9, exact);
    ck_assert_double_eq_tol(coll_cost_transfer(&cost, 5), 5.5, exact);
    ck_assert_double_eq_tol(coll_cost_message(&cost, 5), 1.5 + 5.5 + 1 + 1, exact);
}
END_TEST

/* A message requests 100 / 52 bytes a second, of the 10 or 1 that the network has in total. */
START_TEST(transfer_takes_longer_than_the_network_permits) {
    coll_cost cost = {.latency = 10, .overhead = 2, .per_byte = 0.5, .wake = 3, .together = 10};
    ck_assert_double_eq_tol(coll_cost_transfer(&cost, 0), 6, exact);
    ck_assert_double_eq_tol(coll_cost_transfer(&cost, 100), 6 + 50, exact);
    ck_assert_double_eq_tol(coll_cost_relay(&cost, 100), 63, exact);
    cost.together = 1;
    ck_assert_double_eq_tol(coll_cost_transfer(&cost, 100), 6 + 50 * (100 / 52.0), 1e-12);
}
END_TEST

START_TEST(faults_of_curves) {
    static const struct {
        COLL_Curve curve;
        const char *fault;
    } bad[] = {
        {{.knots = 0}, "too few or too many knots"},
        {{.knots = COLL_KNOTS + 1}, "too few or too many knots"},
        {{.knots = 1, .bytes = {-1}}, "a size that is not within 0 to 1e12"},
        {{.knots = 1, .seconds = {-1}}, "a time that is not within 0 to 1e6 s"},
        {{.knots = 2, .bytes = {1, 1}}, "a size that is not above the one before"},
        {{.knots = 2, .bytes = {1, 2}, .seconds = {2, 1}}, "a time below the one before"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_str_eq(coll_curve_fault(&bad[i].curve), bad[i].fault);
    const COLL_Curve good = {.knots = 2, .bytes = {1, 2}, .seconds = {1, 1}};
    ck_assert_ptr_null(coll_curve_fault(&good));
}
END_TEST

/* Two lines that meet at 4: their ends and the corner are enough knots. */
START_TEST(fits_find_the_corners) {
    const double bytes[] = {1, 2, 4, 8, 16}, seconds[] = {1, 2, 4, 4, 4};
    COLL_Curve curve;
    fit_curve(5, bytes, seconds, 0, &curve);
    ck_assert_int_eq(curve.knots, 3);
    ck_assert_double_eq_tol(curve.bytes[1], 4, exact);
    ck_assert_double_eq_tol(curve.error, 0, exact);
    fit_curve(1, bytes, seconds, 0, &curve);
    ck_assert_int_eq(curve.knots, 1);
}
END_TEST

/* A change that is small compared with the rest of a message gets no knots. */
START_TEST(fits_look_at_the_whole) {
    const double bytes[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024},
                 seconds[] = {0, 1e-9, 2e-9, 3e-9, 4e-9, 5e-9, 6e-9, 7e-9, 1e-3, 3e-3, 9e-3};
    COLL_Curve curve;
    fit_curve(11, bytes, seconds, 10e-6, &curve);
    for (int i = 7; i < 11; i++)
        ck_assert_double_eq_tol(COLL_Curve_at(&curve, bytes[i]), seconds[i], 1e-8);
    ck_assert_double_lt(curve.error, 0.01);
}
END_TEST

/* 3 and 1 become 2 and 2, with an error of a half at two of four points. */
START_TEST(fits_never_fall) {
    const double bytes[] = {1, 2, 3, 4}, seconds[] = {1, 3, 1, 4};
    COLL_Curve curve;
    fit_curve(4, bytes, seconds, 0, &curve);
    ck_assert_ptr_null(coll_curve_fault(&curve));
    ck_assert_double_eq_tol(COLL_Curve_at(&curve, 2), 2, exact);
    ck_assert_double_eq_tol(COLL_Curve_at(&curve, 3), 2, exact);
    ck_assert_double_eq_tol(curve.error, (0.5 + 0.5) / 4, exact);
}
END_TEST

START_TEST(fits_keep_to_the_number_of_knots) {
    double bytes[30], seconds[30];
    COLL_Curve curve;
    for (int i = 0; i < 30; i++) {
        bytes[i] = i + 1;
        seconds[i] = (i + 1) * (i + 1);
    }
    fit_curve(30, bytes, seconds, 0, &curve);
    ck_assert_int_eq(curve.knots, COLL_KNOTS);
    ck_assert_ptr_null(coll_curve_fault(&curve));
    ck_assert_double_lt(curve.error, 0.2);
}
END_TEST

START_TEST(lines_by_least_squares) {
    const double x[] = {2, 4, 8}, y[] = {5, 9, 17};
    double slope, intercept;
    fit_line(3, x, y, &slope, &intercept);
    ck_assert_double_eq_tol(slope, 2, 1e-12);
    ck_assert_double_eq_tol(intercept, 1, 1e-12);
}
END_TEST

/* Eq. 4: with D / A = 0.25 and B = 60000 the share 0.25 + 60000 / k passes. */
START_TEST(floods_give_the_buffer) {
    const flood_result lossy = {
        .steps = 4, .bytes = {50000, 80000, 100000, 200000}, .arrived = {1, 1, 0.85, 0.55}};
    ck_assert_double_eq_tol(flood_buffer(&lossy), 60000, 1e-6);
    const flood_result one = {.steps = 2, .bytes = {80000, 100000}, .arrived = {1, 0.85}};
    ck_assert_double_eq_tol(flood_buffer(&one), 0, exact);
    const flood_result none = {.steps = 0};
    ck_assert_double_eq_tol(flood_buffer(&none), 0, exact);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("cost");
    TCase *tests = tcase_create("cost");
    tcase_add_test(tests, curves_are_straight_between_knots_and_beyond);
    tcase_add_test(tests, what_was_not_measured_follows_from_the_summary);
    tcase_add_test(tests, measured_curves_come_first);
    tcase_add_test(tests, transfer_takes_longer_than_the_network_permits);
    tcase_add_test(tests, faults_of_curves);
    tcase_add_test(tests, fits_find_the_corners);
    tcase_add_test(tests, fits_look_at_the_whole);
    tcase_add_test(tests, fits_never_fall);
    tcase_add_test(tests, fits_keep_to_the_number_of_knots);
    tcase_add_test(tests, lines_by_least_squares);
    tcase_add_test(tests, floods_give_the_buffer);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}
