/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/progress_thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

static const long SHORTEST_PAUSE = 50 * 1000, LONGEST_PAUSE = 2 * 1000 * 1000; /* ns */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static coll_tick (*look)(void);
static bool runs, woken;
static atomic_bool ends;

/* Sleeps until coll_progress_thread_wake; returns false if the thread must end. */
static bool sleep_until_woken(void) {
    pthread_mutex_lock(&lock);
    while (!woken && !ends)
        pthread_cond_wait(&wake, &lock);
    woken = false;
    bool running = !ends;
    pthread_mutex_unlock(&lock);
    return running;
}

static void *poll_loop(void *unused) {
    while (sleep_until_woken()) {
        long pause = SHORTEST_PAUSE;
        for (coll_tick found; !ends && (found = look()) != COLL_TICK_IDLE;) {
            pause = found == COLL_TICK_MOVED ? SHORTEST_PAUSE : 2 * pause;
            if (pause > LONGEST_PAUSE)
                pause = LONGEST_PAUSE;
            nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
        }
    }
    return unused;
}

bool coll_progress_thread_begin(coll_tick (*what)(void)) {
    pthread_mutex_lock(&lock);
    if (!runs) {
        look = what;
        ends = false;
        runs = pthread_create(&thread, NULL, poll_loop, NULL) == 0;
    }
    bool there = runs;
    pthread_mutex_unlock(&lock);
    return there;
}

void coll_progress_thread_wake(void) {
    pthread_mutex_lock(&lock);
    woken = true;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
}

void coll_progress_thread_end(void) {
    pthread_mutex_lock(&lock);
    bool was = runs;
    runs = false;
    ends = true;
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
    if (was)
        pthread_join(thread, NULL);
}
