/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's clock, a clock that costs a few nanoseconds, and sleep. */
#ifndef COLL_LIB_BASE_TICKS_H
#define COLL_LIB_BASE_TICKS_H

#include <stdint.h>
#include <time.h>

/* Returns the monotonic clock in nanoseconds; it starts at a different time on each host. */
static inline uint64_t coll_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Returns the same clock in seconds. */
static inline double coll_monotonic(void) {
    return 1e-9 * (double)coll_nanoseconds();
}

/* Sleeps for SECONDS; a signal may end it early. */
static inline void coll_sleep(double seconds) {
    /* SimGrid's nanosleep is a macro, so its argument may have no comma. */
    struct timespec time = {.tv_sec = (time_t)seconds};
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    nanosleep(&time, NULL);
}

/*
 * Returns a counter that advances at a steady rate: the time-stamp counter on x86-64, else
 * nanoseconds.
 */
static inline uint64_t coll_ticks(void) {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return coll_nanoseconds();
#endif
}

#endif
