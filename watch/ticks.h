/* SPDX-License-Identifier: BSD-3-Clause */
/* A clock that costs a few nanoseconds. */
#ifndef COLL_WATCH_TICKS_H
#define COLL_WATCH_TICKS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t watch_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Returns a counter that advances at a steady rate; in nanoseconds if the processor has no faster
 * counter.
 */
static inline uint64_t watch_ticks(void) {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return watch_nanoseconds();
#endif
}

/* Starts the measurement of the length of a tick. */
void watch_ticks_begin(void);

/* Returns how many nanoseconds ago watch_ticks returned TICKS. */
uint64_t watch_ticks_ago(uint64_t ticks);

/* Returns the length of TICKS ticks in nanoseconds. */
uint64_t watch_ticks_length(uint64_t ticks);

/* Returns the nanoseconds since watch_ticks_begin. */
uint64_t watch_ticks_age(void);

#endif
