/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the progress thread polls until it is idle, and that it ends although it is not. */
#include "config.h"

#include "lib/base/progress_thread.h"
#include "tests/support/harness.h"

#include <check.h>
#include <stdatomic.h>
#include <time.h>

static atomic_int polls;

static void sleep_for(long milliseconds) {
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000 * 1000}, NULL);
}

static void wait_for_polls(int least) {
    while (polls < least)
        sleep_for(1);
}

static coll_tick idle_at_third(void) {
    return ++polls % 3 == 0 ? COLL_TICK_IDLE : COLL_TICK_MOVED;
}

START_TEST(an_idle_thread_sleeps_until_woken) {
    polls = 0;
    ck_assert(coll_progress_thread_begin(idle_at_third));
    for (int time = 1; time <= 2; time++) {
        coll_progress_thread_wake();
        wait_for_polls(3 * time);
        sleep_for(10);
        ck_assert_int_eq(polls, 3 * time);
    }
    coll_progress_thread_end();
}
END_TEST

static coll_tick never_idle(void) {
    polls++;
    return COLL_TICK_STILL;
}

START_TEST(a_thread_ends_that_is_never_idle) {
    for (int time = 0; time < 2; time++) {
        polls = 0;
        ck_assert(coll_progress_thread_begin(never_idle));
        coll_progress_thread_wake();
        wait_for_polls(2);
        coll_progress_thread_end();
        const int all = polls;
        sleep_for(10);
        ck_assert_int_eq(polls, all);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("progress_thread");
    TCase *tests = tcase_create("progress_thread");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, an_idle_thread_sleeps_until_woken);
    tcase_add_test(tests, a_thread_ends_that_is_never_idle);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}
