/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/timeout.h"

#include "watch/job.h"
#include "watch/reporter.h"
#include "watch/state.h"
#include "watch/ticks.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Each rank delays its alarm by its rank times STAGGER milliseconds, at most LONGEST_STAGGER. Most
 * ranks are then asked for their state before their own alarm is due, and needn't send the alarm.
 * Making a report may take longer with MANY ranks or more, so they use STAGGER_OF_MANY.
 */
enum { STAGGER = 15, STAGGER_OF_MANY = 60, LONGEST_STAGGER = 3000, MANY = 50 };
static const uint64_t MILLISECOND = 1000000;

/* A failed call, noted by the program's thread for the watcher's thread. */
static pthread_mutex_t failure_lock = PTHREAD_MUTEX_INITIALIZER;
static watch_alarm failure;
static bool failed;

static watch_alarm sent; /* the alarm that is being sent to rank TARGET, unless TARGET is -1 */
static int target = -1;

static void send_alarm_from(int first);

static void handle_alarm_reply(void *unused, const void *data, size_t length) {
    (void)unused;
    (void)length;
    int next = target + 1;
    target = -1;
    if (!data && (sent.failed || !watch_reporter_has(sent.age)))
        send_alarm_from(next);
}

static bool is_alive(int rank) {
    const watch_peer *peer = &watch_own.peers[rank];
    return peer->port && (peer->host != watch_own.peers[watch_own.rank].host ||
                          watch_host_look(peer->process) == WATCH_SILENT);
}

/* Sends the alarm to the lowest rank from FIRST on that is alive, which may be this one. */
static void send_alarm_from(int first) {
    while (first < watch_own.rank && !is_alive(first))
        first++;
    if (first == watch_own.rank) {
        watch_reporter_heed(&sent);
        return;
    }
    watch_question question = {.kind = WATCH_ALARM,
                               .data = &sent,
                               .length = sizeof sent,
                               .timeouts = watch_job_timeouts(0, 0)};
    /*
     * If the asked rank is slow, the next rank can report as well. But if many ranks share a
     * processor, two reports would slow each other down.
     */
    if (watch_own.ranks < MANY)
        question.timeouts.hello /= 2;
    target = first;
    watch_job_ask(target, &question, handle_alarm_reply, NULL);
}

static void raise_alarm_of_failure(void) {
    pthread_mutex_lock(&failure_lock);
    bool new_one = failed;
    failed = false;
    if (new_one)
        sent = failure;
    pthread_mutex_unlock(&failure_lock);
    if (new_one)
        send_alarm_from(0);
}

/*
 * Raises an alarm if the oldest call lasts too long. Returns after how many nanoseconds to check
 * again.
 */
static uint64_t check_oldest_call(void) {
    static uint64_t watched, worth; /* the oldest call, and the age at which it is worth an alarm */
    uint64_t limit = watch_job_limit(), call;
    uint64_t stagger =
        (uint64_t)watch_own.rank * (watch_own.ranks < MANY ? STAGGER : STAGGER_OF_MANY);
    stagger = (stagger < LONGEST_STAGGER ? stagger : LONGEST_STAGGER) * MILLISECOND;
    uint64_t age = watch_state_oldest(&call);
    if (call != watched) {
        watched = call;
        worth = limit + stagger;
    }
    if (call && age >= worth) {
        worth = 4 * age + stagger;
        if (target < 0 && !watch_reporter_has(age)) {
            sent = (watch_alarm){.rank = watch_own.rank, .age = age};
            send_alarm_from(0);
        }
    }
    return call ? worth - age : limit;
}

int watch_timeout_check(void) {
    enum { LONGEST = 3600000 };
    raise_alarm_of_failure();
    uint64_t left = check_oldest_call() / MILLISECOND + 1;
    return left < LONGEST ? (int)left : LONGEST;
}

void watch_timeout_call_failed(const char *text) {
    pthread_mutex_lock(&failure_lock);
    failure = (watch_alarm){.rank = watch_own.rank, .failed = 1};
    snprintf(failure.text, sizeof failure.text, "%s", text);
    failed = true;
    pthread_mutex_unlock(&failure_lock);
    watch_wire_wake();
}
