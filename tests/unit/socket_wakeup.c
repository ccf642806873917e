/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the sleep that ends when something happens on a TCP connection, with both ends in this
 * process, over the loopback. The return value says what woke it, never the clock.
 */
#include "config.h"

#include "lib/base/socket_wakeup.h"
#include "lib/base/wait.h"
#include "tests/support/harness.h"

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int ends[2];

static void connect_ends(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_ge(listener, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(connect(ends[0], (struct sockaddr *)&address, size), 0);
    ends[1] = accept(listener, NULL, NULL);
    ck_assert_int_ge(ends[1], 0);
    close(listener);
}

static void close_ends(void) {
    close(ends[0]);
    close(ends[1]);
}

/* Sleeps until nothing wakes it any more. It is then known to watch the connection. */
static void settle(void) {
    int quiet = 0;
    while (quiet < 20)
        quiet = coll_wakeup_sleep(2e-3) ? 0 : quiet + 1;
}

static bool rings_within_tries(void) {
    for (int tries = 0; tries < 5; tries++)
        if (coll_wakeup_sleep(0.9))
            return true;
    return false;
}

static bool supported(void) {
#ifdef HAVE_EPOLL_PWAIT2
    return true;
#else
    return false;
#endif
}

START_TEST(plain_sleep_without_connections) {
    ck_assert(!coll_wakeup_sleep(1e-3));
}
END_TEST

START_TEST(rings_when_data_arrives) {
    connect_ends();
    settle();
    for (int message = 0; message < 3; message++) {
        ck_assert_int_eq(write(ends[0], "x", 1), 1);
        ck_assert_int_eq(rings_within_tries(), supported());
    }
    close_ends();
}
END_TEST

START_TEST(unread_data_does_not_ring_for_ever) {
    connect_ends();
    settle();
    ck_assert_int_eq(write(ends[0], "x", 1), 1);
    settle(); /* ends only when nothing wakes it, although nobody has read */
    close_ends();
}
END_TEST

START_TEST(a_later_connection_is_found) {
    connect_ends();
    settle();
    close_ends();
    settle();
    connect_ends();
    settle();
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    ck_assert_int_eq(rings_within_tries(), supported());
    close_ends();
}
END_TEST

/* This process both sleeps and wakes itself. */
START_TEST(another_rings_the_bell) {
    static coll_wakeup wakeup;
    coll_wakeup_install(&wakeup);
    coll_wakeup_notify(NULL);
    coll_wakeup_notify(&wakeup); /* the process does not sleep */
    ck_assert(!coll_wakeup_sleep(1e-3));
    coll_wakeup_announce(true);
    for (int i = 0; i < 50; i++) { /* between two sleeps, more than the socket buffers */
        coll_wakeup_notify(&wakeup);
        coll_wakeup_notify(&wakeup);
        ck_assert_int_eq(rings_within_tries(), supported());
    }
    ck_assert(!coll_wakeup_sleep(1e-3)); /* no wake-up is left */
    coll_wakeup_announce(false);
    coll_wakeup_notify(&wakeup);
    ck_assert(!coll_wakeup_sleep(1e-3));
    coll_wakeup_install(NULL);
    coll_wakeup_notify(&wakeup);
    ck_assert(!coll_wakeup_sleep(1e-3));
}
END_TEST

/* Waits read the time from MPI, which is not initialised here. */
double PMPI_Wtime(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Waits on a shared core until the end of the first sleep. */
static void wait_for_a_sleep(coll_wait *wait) {
    coll_backoff backoff = coll_backoff_begin(wait);
    while (!backoff.slept)
        coll_backoff_relax(&backoff);
    coll_backoff_progress(&backoff);
}

/* Returns the number of sleeps in a wait of SECONDS that nothing wakes. */
static int sleeps_in(coll_wait *wait, double seconds) {
    coll_backoff backoff = coll_backoff_begin(wait);
    int sleeps = 0;
    while (!coll_backoff_expired(&backoff, seconds)) {
        coll_backoff_relax(&backoff);
        sleeps += backoff.woken;
    }
    coll_backoff_progress(&backoff);
    return sleeps;
}

/* Sleeps are long after some waits that a wake-up has ended, and until one that it has not. */
START_TEST(waits_rely_on_it_while_it_rings) {
    enum { WAITS = 20, MANY = 60 }; /* in 0.2 s; sleeps of at most a millisecond would be 200 */
    char byte;
    coll_wait wait = {.crowded = true};
    connect_ends();
    settle();
    for (int i = 0; i < WAITS; i++) {
        ck_assert_int_eq(write(ends[0], "x", 1), 1);
        wait_for_a_sleep(&wait);
        ck_assert_int_eq(read(ends[1], &byte, 1), 1);
    }
    ck_assert_int_eq(wait.early_wakeups > 0, supported());
    int sleeps = sleeps_in(&wait, 0.2);
    if (supported())
        ck_assert_int_lt(sleeps, MANY);
    ck_assert_int_eq(wait.early_wakeups, 0);
    close_ends();
}
END_TEST

int main(void) {
    Suite *suite = suite_create("socket_wakeup");
    TCase *tests = tcase_create("socket_wakeup");
    tcase_add_test(tests, plain_sleep_without_connections);
    tcase_add_test(tests, another_rings_the_bell);
    tcase_add_test(tests, rings_when_data_arrives);
    tcase_add_test(tests, unread_data_does_not_ring_for_ever);
    tcase_add_test(tests, a_later_connection_is_found);
    tcase_add_test(tests, waits_rely_on_it_while_it_rings);
    suite_add_tcase(suite, tests);
    return harness_unit(suite);
}
