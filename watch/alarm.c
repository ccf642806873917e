#include "config.h"

#include "watch/alarm.h"

#include "watch/job.h"
#include "watch/reporter.h"
#include "watch/state.h"
#include "watch/ticks.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Ranks with higher numbers wait a little before they raise an alarm, in milliseconds: most of them
 * are asked by then, and needn't. That takes longer where MANY ranks share a processor.
 */
enum { STAGGER = 15, STAGGER_OF_MANY = 60, LONGEST_STAGGER = 3000, MANY = 50 };
static const uint64_t MILLISECOND = 1000000;

/* A failure on the program's thread, for the watcher's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static watch_alarm failure;
static bool failed;

static watch_alarm sent; /* the alarm that is on its way to TARGET, if that is not -1 */
static int target = -1;

static void raise_from(int first);

static void arrived(void *unused, const void *data, size_t length) {
    (void)unused;
    (void)length;
    int next = target + 1;
    target = -1;
    if (!data && (sent.failed || !watch_reporter_has(sent.age)))
        raise_from(next);
}

static bool lives(int rank) {
    const watch_peer *peer = &watch_own.peers[rank];
    return peer->port && (peer->host != watch_own.peers[watch_own.rank].host ||
                          watch_host_look(peer->process) == WATCH_SILENT);
}

/* To the lowest rank from FIRST on that lives, which may be this one. */
static void raise_from(int first) {
    while (first < watch_own.rank && !lives(first))
        first++;
    if (first == watch_own.rank) {
        watch_reporter_heed(&sent);
        return;
    }
    watch_question question = {.kind = WATCH_ALARM,
                               .data = &sent,
                               .length = sizeof sent,
                               .patience = watch_job_patience(0, 0)};
    /* The next one is as good; but where many share a processor, two reports hinder each other. */
    if (watch_own.ranks < MANY)
        question.patience.hello /= 2;
    target = first;
    watch_job_ask(target, &question, arrived, NULL);
}

static void take_failure(void) {
    pthread_mutex_lock(&lock);
    bool new_one = failed;
    failed = false;
    if (new_one)
        sent = failure;
    pthread_mutex_unlock(&lock);
    if (new_one)
        raise_from(0);
}

/* Whether the oldest call lasts too long; returns after how many nanoseconds it will. */
static uint64_t look_at_calls(void) {
    static uint64_t watched, worth; /* the oldest call, and at which age it is worth an alarm */
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
            raise_from(0);
        }
    }
    return call ? worth - age : limit;
}

int watch_alarm_look(void) {
    enum { LONGEST = 3600000 };
    take_failure();
    uint64_t left = look_at_calls() / MILLISECOND + 1;
    return left < LONGEST ? (int)left : LONGEST;
}

void watch_alarm_failed(const char *text) {
    pthread_mutex_lock(&lock);
    failure = (watch_alarm){.rank = watch_own.rank, .failed = 1};
    snprintf(failure.text, sizeof failure.text, "%s", text);
    failed = true;
    pthread_mutex_unlock(&lock);
    watch_wire_wake();
}
