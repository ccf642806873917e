/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests forecasts, the rounds in which pairs of sites measure, and probes with and without an
 * answer.
 */
#include "config.h"

#include "hlot/forecast.h"
#include "hlot/latency.h"
#include "hlot/probe.h"
#include "lib/topology/tcp_rtt.h"
#include "tests/support/harness.h"
#include "tests/support/lot.h"

#include <arpa/inet.h>
#include <check.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

START_TEST(nothing_measured_is_no_forecast) {
    hlot_forecast forecast = {.count = 0};
    ck_assert_double_eq(hlot_forecast_value(&forecast), 0);
    hlot_forecast_add(&forecast, 0.04);
    ck_assert_double_eq(hlot_forecast_value(&forecast), 0.04);
    ck_assert(!forecast.surprised);
}
END_TEST

/*
 * One sample in five takes three times as long. The forecast hardly changes; the last value would.
 */
START_TEST(outliers_do_not_move_the_forecast) {
    hlot_forecast forecast = {.count = 0};
    int surprises = 0;
    for (int i = 0; i < 200; i++) {
        hlot_forecast_add(&forecast, i % 5 == 4 ? 0.12 : 0.04 + 1e-4 * lot());
        surprises += forecast.surprised;
        if (i >= 20)
            ck_assert_double_eq_tol(hlot_forecast_value(&forecast), 0.04, 2e-4);
    }
    ck_assert_int_eq(hlot_forecast_best(&forecast), HLOT_MEDIAN);
    ck_assert_int_ge(surprises, 40);
    ck_assert_int_le(surprises, 45);
}
END_TEST

START_TEST(a_lasting_change_is_believed_after_two_samples) {
    for (int before = 1; before < 300; before += 13) {
        hlot_forecast forecast = {.count = 0};
        for (int i = 0; i < before; i++)
            hlot_forecast_add(&forecast, 0.004 + 1e-4 * lot());
        hlot_forecast_add(&forecast, 0.04);
        ck_assert(forecast.surprised);
        hlot_forecast_add(&forecast, 0.04);
        ck_assert_msg(fabs(hlot_forecast_value(&forecast) - 0.04) < 1e-3,
                      "%g by predictor %d after %d", hlot_forecast_value(&forecast),
                      (int)hlot_forecast_best(&forecast), before);
    }
}
END_TEST

/* For noise around a level, the mean or smoothing has a smaller error than the last value. */
START_TEST(noise_is_averaged) {
    hlot_forecast forecast = {.count = 0};
    for (int i = 0; i < 500; i++)
        hlot_forecast_add(&forecast, 0.05 + 0.01 * lot());
    ck_assert_int_ne(hlot_forecast_best(&forecast), HLOT_LAST);
    ck_assert_double_eq_tol(hlot_forecast_value(&forecast), 0.055, 3e-3);
}
END_TEST

START_TEST(in_a_tournament_all_meet_once_in_disjoint_pairs) {
    for (int sites = 1; sites <= HLOT_SITES; sites++) {
        int met[HLOT_SITES][HLOT_SITES] = {{0}}, rounds = sites + sites % 2 - 1;
        uint32_t first = (uint32_t)(1000 * lot());
        for (uint32_t round = first; round < first + (uint32_t)rounds; round++)
            for (int site = 0; site < sites; site++) {
                int opponent = hlot_latency_opponent(sites, round, site);
                ck_assert_int_lt(opponent, sites);
                ck_assert_int_ne(opponent, site);
                if (opponent < 0)
                    continue;
                ck_assert_int_eq(hlot_latency_opponent(sites, round, opponent), site);
                met[site][opponent]++;
            }
        for (int a = 0; a < sites; a++)
            for (int b = 0; b < sites; b++)
                ck_assert_int_eq(met[a][b], a != b);
    }
}
END_TEST

static hlot_answer wait_for(hlot_probe *probe, double timeout, double *seconds) {
    hlot_answer answer;
    while ((answer = hlot_probe_look(probe, timeout, seconds)) == HLOT_WAITING) {
        struct timespec time = {.tv_nsec = 1000000};
        nanosleep(&time, NULL);
    }
    return answer;
}

START_TEST(a_probe_is_answered_by_the_kernel) {
    int port = 0, listener = hlot_probe_listen(&port);
    struct sockaddr_in address;
    hlot_probe probe = {.connection = -1};
    double seconds = -1;
    ck_assert_int_ge(listener, 0);
    ck_assert(coll_tcp_rtt_find("127.0.0.1", port, &address));
    ck_assert_int_eq(hlot_probe_look(&probe, 1, &seconds), HLOT_NO_PROBE);
    for (int i = 0; i < 300; i++) { /* more connections than the kernel's default queue */
        hlot_probe_start(&probe, &address);
        ck_assert_int_eq(wait_for(&probe, 5, &seconds), HLOT_ANSWERED);
        ck_assert_double_gt(seconds, 0);
        if (i % 50 == 0)
            hlot_probe_drain(listener);
    }
    close(listener);
}
END_TEST

START_TEST(a_refused_probe_is_silent) {
    int port = 0, listener = hlot_probe_listen(&port);
    struct sockaddr_in address;
    hlot_probe probe = {.connection = -1};
    double seconds;
    ck_assert(coll_tcp_rtt_find("127.0.0.1", port, &address));
    close(listener);
    hlot_probe_start(&probe, &address);
    ck_assert_int_eq(wait_for(&probe, 5, &seconds), HLOT_SILENT);
    ck_assert_int_eq(probe.connection, -1);
    ck_assert(!coll_tcp_rtt_find("no.such.host.invalid", 1, &address));
}
END_TEST

/* A port whose queue is full does not answer at all. */
START_TEST(a_probe_without_an_answer_ends_in_time) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int full = socket(AF_INET, SOCK_STREAM, 0);
    hlot_probe probes[4];
    double seconds;
    ck_assert_int_eq(bind(full, (struct sockaddr *)&address, length), 0);
    ck_assert_int_eq(listen(full, 0), 0);
    ck_assert_int_eq(getsockname(full, (struct sockaddr *)&address, &length), 0);
    for (int i = 0; i < 4; i++) {
        probes[i].connection = -1;
        hlot_probe_start(&probes[i], &address);
    }
    ck_assert_int_eq(wait_for(&probes[3], 0.2, &seconds), HLOT_SILENT);
    for (int i = 0; i < 4; i++)
        hlot_probe_end(&probes[i]);
    close(full);
}
END_TEST

int main(void) {
    lots.state = 1;
    Suite *suite = suite_create("hlot latency");
    TCase *tests = tcase_create("all");
    tcase_add_test(tests, nothing_measured_is_no_forecast);
    tcase_add_test(tests, outliers_do_not_move_the_forecast);
    tcase_add_test(tests, a_lasting_change_is_believed_after_two_samples);
    tcase_add_test(tests, noise_is_averaged);
    tcase_add_test(tests, in_a_tournament_all_meet_once_in_disjoint_pairs);
    tcase_add_test(tests, a_probe_is_answered_by_the_kernel);
    tcase_add_test(tests, a_refused_probe_is_silent);
    tcase_add_test(tests, a_probe_without_an_answer_ends_in_time);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}
