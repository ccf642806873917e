/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests polite waiting: completion, inactive requests, fairness, time-outs, and sleeping. */
#include "config.h"

#include "lib/base/env.h"
#include "lib/base/wait.h"
#include "tests/support/harness.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MANY = 150, TAG = 1000, SILENT_TAG = 1001 };

static int rank, ranks;
static coll_wait wait_way;

static void set_up(void) {
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    wait_way = (coll_wait){.crowded = false};
}

static void set_up_crowded(void) {
    set_up();
    wait_way.crowded = true;
}

static void pause_for(double seconds) {
    struct timespec time = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/*
 * Starts to receive one int from every rank, including this one, into RECEIVED. Every second
 * request is null.
 */
static int receive_from_all(MPI_Request requests[], int peers[], int received[]) {
    for (int i = 0; i < 2 * ranks; i++) {
        requests[i] = MPI_REQUEST_NULL;
        peers[i] = i / 2;
        if (i % 2)
            PMPI_Irecv(&received[i / 2], 1, MPI_INT, i / 2, TAG, MPI_COMM_WORLD, &requests[i]);
    }
    return 2 * ranks;
}

static void send_to_all(int value) {
    for (int to = 0; to < ranks; to++)
        PMPI_Send(&value, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
}

START_TEST(any_takes_each_once_and_then_none) {
    MPI_Request requests[64];
    int peers[64], received[32], index, times[64] = {0};
    int count = receive_from_all(requests, peers, received);
    send_to_all(rank);
    bool good = true;
    for (int i = 0; i < ranks; i++) {
        good = good && coll_wait_any(&wait_way, count, requests, peers, &index) == MPI_SUCCESS;
        good = good && index >= 0 && index < count && index % 2 && times[index]++ == 0 &&
               received[index / 2] == index / 2;
    }
    good = good && coll_wait_any(&wait_way, count, requests, peers, &index) == MPI_SUCCESS;
    harness_assert(good && index == MPI_UNDEFINED, "any");
}
END_TEST

START_TEST(all_completes_all) {
    MPI_Request requests[64];
    int peers[64], received[32];
    int count = receive_from_all(requests, peers, received);
    send_to_all(100 + rank);
    bool good = coll_wait_all(&wait_way, count, requests, peers) == MPI_SUCCESS;
    for (int i = 0; i < count; i++)
        good = good && requests[i] == MPI_REQUEST_NULL && received[i / 2] == 100 + i / 2;
    harness_assert(good, "all");
}
END_TEST

START_TEST(nothing_to_wait_for_is_no_wait) {
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int index = 5, value = 0;
    wait_way.timeout = 3600;
    ck_assert_int_eq(coll_wait_any(&wait_way, 0, NULL, NULL, &index), MPI_SUCCESS);
    ck_assert_int_eq(index, MPI_UNDEFINED);
    ck_assert_int_eq(coll_wait_all(&wait_way, 0, NULL, NULL), MPI_SUCCESS);
    for (int turn = 0; turn < 3; turn++) {
        wait_way.turn = turn;
        PMPI_Recv_init(&value, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, &requests[1]);
        ck_assert_int_eq(coll_wait_any(&wait_way, 3, requests, NULL, &index), MPI_SUCCESS);
        ck_assert_int_eq(index, MPI_UNDEFINED);
        ck_assert_int_eq(coll_wait_all(&wait_way, 3, requests, NULL), MPI_SUCCESS);
        ck_assert(requests[1] != MPI_REQUEST_NULL);
        PMPI_Request_free(&requests[1]);
    }
}
END_TEST

/* The first request is complete again whenever it is tested, but the last must also be tested. */
/*
 * Gives up regardless of the communicator's time-out. The request stays active and completes later.
 */
START_TEST(any_for_gives_up_without_an_error) {
    MPI_Request request;
    int value = 7, received = 0, index = 0, other = rank ^ 1;
    int peer = other < ranks ? other : rank;
    wait_way.timeout = 1e-6;
    PMPI_Irecv(&received, 1, MPI_INT, peer, SILENT_TAG, MPI_COMM_WORLD, &request);
    int code = coll_wait_any_for(&wait_way, 0.01, 1, &request, &index);
    harness_assert(code == MPI_SUCCESS && index == MPI_UNDEFINED, "nothing comes");
    PMPI_Send(&value, 1, MPI_INT, peer, SILENT_TAG, MPI_COMM_WORLD);
    code = coll_wait_any_for(&wait_way, 0, 1, &request, &index);
    harness_assert(code == MPI_SUCCESS && index == 0 && received == 7, "it comes");
}
END_TEST

START_TEST(any_is_fair) {
    enum { REQUESTS = 5 };
    MPI_Request requests[REQUESTS];
    int times[REQUESTS] = {0}, index;
    for (int i = 0; i < REQUESTS; i++)
        PMPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[i]);
    for (int round = 0; round < 4 * REQUESTS; round++) {
        ck_assert_int_eq(coll_wait_any(&wait_way, REQUESTS, requests, NULL, &index), MPI_SUCCESS);
        ck_assert(index >= 0 && index < REQUESTS);
        times[index]++;
        PMPI_Irecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[index]);
    }
    for (int i = 0; i < REQUESTS; i++)
        ck_assert_int_eq(times[i], 4);
    ck_assert_int_eq(coll_wait_all(&wait_way, REQUESTS, requests, NULL), MPI_SUCCESS);
}
END_TEST

/* Tests more requests than are tested at once, in both directions, between neighbours. */
START_TEST(all_handles_many) {
    static MPI_Request requests[2 * MANY];
    static int out[MANY], in[MANY];
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    for (int i = 0; i < MANY; i++) {
        out[i] = 1000 * rank + i;
        PMPI_Irecv(&in[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
    }
    for (int i = 0; i < MANY; i++)
        PMPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[MANY + i]);
    bool good = coll_wait_all(&wait_way, 2 * MANY, requests, NULL) == MPI_SUCCESS;
    for (int i = 0; i < MANY; i++)
        good = good && in[i] == 1000 * left + i;
    harness_assert(good, "many");
}
END_TEST

/*
 * Uses neighbours, because Open MPI 4.1 reports no truncation of small messages to the same rank.
 */
START_TEST(the_error_of_a_request_comes_back) {
    char little[4], much[64] = {0};
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    if (ranks < 2)
        return;
    for (int all = 0; all < 2; all++) {
        MPI_Request requests[2];
        int index;
        PMPI_Irecv(little, sizeof little, MPI_CHAR, left, TAG, MPI_COMM_WORLD, &requests[0]);
        PMPI_Isend(much, sizeof much, MPI_CHAR, right, TAG, MPI_COMM_WORLD, &requests[1]);
        int code = all ? coll_wait_all(&wait_way, 1, requests, NULL)
                       : coll_wait_any(&wait_way, 1, requests, NULL, &index);
        int sent = PMPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        harness_assert(harness_class(code) == MPI_ERR_TRUNCATE && sent == MPI_SUCCESS, "error %d",
                       code);
    }
}
END_TEST

/* Every rank waits for all others, who send only when all have given up. */
START_TEST(time_runs_out_with_a_name_and_nothing_is_lost) {
    MPI_Request requests[64];
    int peers[64], received[32], index;
    if (ranks < 2)
        return;
    int count = receive_from_all(requests, peers, received);
    PMPI_Send(&rank, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD);
    wait_way.timeout = 0.2;
    int lowest = rank == 0 ? 1 : 0;
    char expected[128];
    const char *rest = "silent for 0.2 s; see what keeps it, or raise COLL_TIMEOUT (seconds)";
    if (ranks > 2)
        snprintf(expected, sizeof expected, "rank %d (and %d more) %s", lowest, ranks - 2, rest);
    else
        snprintf(expected, sizeof expected, "rank %d %s", lowest, rest);

    for (int all = 1; all >= 0; all--) {
        int code = all ? coll_wait_all(&wait_way, count, requests, peers)
                       : coll_wait_any(&wait_way, count, requests, peers, &index);
        const char *text = harness_text(code);
        harness_assert(harness_class(code) == MPI_ERR_OTHER && strcmp(text, expected) == 0, "%s",
                       text);
    }

    for (int to = 0; to < ranks; to++)
        if (to != rank)
            PMPI_Send(&rank, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
    wait_way.timeout = 0;
    bool good = coll_wait_all(&wait_way, count, requests, peers) == MPI_SUCCESS;
    for (int i = 0; i < ranks; i++)
        good = good && received[i] == i;
    harness_assert(good, "late messages");
}
END_TEST

START_TEST(without_peers_no_name_is_made_up) {
    MPI_Request request;
    int value, index, from_any = MPI_ANY_SOURCE;
    PMPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, SILENT_TAG, MPI_COMM_WORLD, &request);
    wait_way.timeout = 0.05;
    for (int i = 0; i < 2; i++) {
        int code = coll_wait_any(&wait_way, 1, &request, i ? &from_any : NULL, &index);
        ck_assert_str_eq(harness_text(code),
                         "every peer silent for 0.1 s; see what keeps it, or raise "
                         "COLL_TIMEOUT (seconds)");
    }
    PMPI_Cancel(&request);
    PMPI_Wait(&request, MPI_STATUS_IGNORE);
}
END_TEST

/* Returns whether messages to rank 0, which arrive one by one, STEP seconds apart, are in time. */
static bool come_in_time(double step, double timeout) {
    enum { MESSAGES = 5 };
    MPI_Request requests[MESSAGES];
    int values[MESSAGES];
    if (rank == 1)
        for (int i = MESSAGES - 1; i >= 0; i--) {
            pause_for(step);
            PMPI_Send(&i, 1, MPI_INT, 0, 10 + i, MPI_COMM_WORLD);
        }
    if (rank > 0)
        return true;
    for (int i = 0; i < MESSAGES; i++)
        PMPI_Irecv(&values[i], 1, MPI_INT, 1, 10 + i, MPI_COMM_WORLD, &requests[i]);
    wait_way.timeout = timeout;
    bool good = coll_wait_all(&wait_way, MESSAGES, requests, NULL) == MPI_SUCCESS;
    wait_way.timeout = 0;
    return coll_wait_all(&wait_way, MESSAGES, requests, NULL) == MPI_SUCCESS && good;
}

/*
 * Messages extend the time-out, although all of them together take longer. On a busy machine even
 * one may take longer, so the test repeats with more time.
 */
START_TEST(each_completion_is_progress) {
    double step = 0.15;
    if (ranks < 2)
        return;
    while (!harness_agree(come_in_time(step, 3 * step))) {
        step *= 2;
        harness_assert(step < 10, "timed out in spite of progress");
    }
}
END_TEST

static double processor_seconds(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* This is like a process that continues after a SIGSTOP: the others may have answered meanwhile. */
START_TEST(a_process_that_was_stopped_waits_on) {
    const double seconds = 5, stopped = 60, silent = 0.4;
    coll_backoff backoff = coll_backoff_begin(&wait_way);
    backoff.since -= stopped;
    backoff.looked -= stopped;
    harness_assert(!coll_backoff_expired(&backoff, seconds), "the time of the stop counts");
    /* It tests often enough, and there is nothing. */
    bool expired = false;
    for (double waited = 0; waited < seconds + 1; waited += silent) {
        backoff.since -= silent;
        backoff.looked -= silent;
        expired = coll_backoff_expired(&backoff, seconds);
    }
    harness_assert(expired, "a time-out that never comes");
    harness_assert(!coll_backoff_expired(&backoff, 0), "a time-out that nobody has set");
}
END_TEST

/*
 * A waiting process on an oversubscribed node sleeps: it gives up the processor voluntarily, once
 * for each sleep, about a thousand times per second. The share of a core is printed but not
 * checked.
 */
START_TEST(a_crowded_waiter_sleeps) {
    MPI_Request request;
    int value = 0, received, index;
    PMPI_Irecv(&received, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD, &request);
    PMPI_Barrier(MPI_COMM_WORLD);
    wait_way.timeout = 1;
    double before = processor_seconds();
    struct rusage start, end;
    getrusage(RUSAGE_SELF, &start);
    int code = coll_wait_any(&wait_way, 1, &request, &rank, &index);
    getrusage(RUSAGE_SELF, &end);
    double used = processor_seconds() - before;
    if (rank == 0)
        printf("a crowded waiter used %.2f %% of a core\n", 100 * used);
    long sleeps = end.ru_nvcsw - start.ru_nvcsw;
    harness_assert(harness_class(code) == MPI_ERR_OTHER, "no time-out");
    harness_assert(sleeps > 0 && sleeps < 2000, "%ld sleeps", sleeps);
    PMPI_Send(&value, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD);
    ck_assert_int_eq(coll_wait_all(&wait_way, 1, &request, &rank), MPI_SUCCESS);
}
END_TEST

START_TEST(the_way_to_wait_follows_the_topology) {
    coll_wait way;
    coll_wait_init(&way, true, COLL_WAIT_AUTO, 2.5);
    ck_assert(way.crowded && way.timeout > 2.4 && way.timeout < 2.6 && way.turn == 0);
    /* tests/support/launch may set MPI to yield when idle. */
    coll_wait_init(&way, false, COLL_WAIT_AUTO, 0);
    ck_assert(way.crowded == (getenv("OMPI_MCA_mpi_yield_when_idle") != NULL) && way.timeout == 0);
}
END_TEST

/* The thread level is MPI_THREAD_MULTIPLE if tests/support/launch pretends that cores are free. */
START_TEST(the_level_of_threads_stays) {
    int before = MPI_THREAD_SINGLE, after = MPI_THREAD_SINGLE;
    coll_wait way;
    MPI_Query_thread(&before);
    coll_wait_init(&way, false, COLL_WAIT_AUTO, 0);
    MPI_Query_thread(&after);
    const char *named = getenv("OMPI_MPI_THREAD_LEVEL");
    ck_assert(after == before && (!named || after == atoi(named)));
}
END_TEST

/* Reads the wait mode of COLL_WAIT=TEXT; NULL means unset. */
static int read_manner(const char *text, int *manner) {
    if (text)
        setenv("COLL_WAIT", text, true);
    else
        unsetenv("COLL_WAIT");
    *manner = COLL_WAIT_AUTO;
    return coll_env_word("COLL_WAIT", coll_wait_manners, manner);
}

START_TEST(the_way_to_wait_can_be_said) {
    int manner;
    ck_assert_int_eq(read_manner(NULL, &manner), MPI_SUCCESS);
    ck_assert_int_eq(manner, COLL_WAIT_AUTO);
    ck_assert_int_eq(read_manner("spin", &manner), MPI_SUCCESS);
    ck_assert_int_eq(manner, COLL_WAIT_SPIN);
    ck_assert_int_eq(read_manner("polite", &manner), MPI_SUCCESS);
    ck_assert_int_eq(manner, COLL_WAIT_POLITE);
    for (int i = 0; i < COLL_WAIT_MANNERS; i++) {
        ck_assert_int_eq(read_manner(coll_wait_manners[i], &manner), MPI_SUCCESS);
        ck_assert_int_eq(manner, i);
    }
    int code = read_manner("rude", &manner);
    ck_assert_int_eq(harness_class(code), MPI_ERR_ARG);
    ck_assert_str_eq(harness_text(code), "COLL_WAIT=rude: allowed: auto, polite, spin, block");
    unsetenv("COLL_WAIT");
}
END_TEST

static TCase *tests_of(const char *name, SFun fixture) {
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, fixture, NULL);
    tcase_add_test(tests, any_takes_each_once_and_then_none);
    tcase_add_test(tests, all_completes_all);
    tcase_add_test(tests, nothing_to_wait_for_is_no_wait);
    tcase_add_test(tests, any_for_gives_up_without_an_error);
    tcase_add_test(tests, any_is_fair);
    tcase_add_test(tests, all_handles_many);
    tcase_add_test(tests, the_error_of_a_request_comes_back);
    tcase_add_test(tests, time_runs_out_with_a_name_and_nothing_is_lost);
    tcase_add_test(tests, without_peers_no_name_is_made_up);
    tcase_add_test(tests, a_process_that_was_stopped_waits_on);
    return tests;
}

static Suite *suite(void) {
    Suite *all = suite_create("wait");
    TCase *roomy = tests_of("roomy", set_up);
    TCase *crowded = tests_of("crowded", set_up_crowded);
    tcase_add_test(crowded, each_completion_is_progress);
    tcase_add_test(crowded, a_crowded_waiter_sleeps);
    tcase_add_test(roomy, the_way_to_wait_follows_the_topology);
    tcase_add_test(roomy, the_level_of_threads_stays);
    tcase_add_test(roomy, the_way_to_wait_can_be_said);
    suite_add_tcase(all, roomy);
    suite_add_tcase(all, crowded);
    return all;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 8 free:2", suite);
}
