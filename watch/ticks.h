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

/* Counts on at a steady rate, or in nanoseconds where the processor has nothing faster. */
static inline uint64_t watch_ticks(void) {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return watch_nanoseconds();
#endif
}

/* Begins to measure how long a tick is. */
void watch_ticks_begin(void);

/* How many nanoseconds ago TICKS were. */
uint64_t watch_ticks_ago(uint64_t ticks);

/* How many nanoseconds so many TICKS take. */
uint64_t watch_ticks_length(uint64_t ticks);

/* Nanoseconds since watch_ticks_begin. */
uint64_t watch_ticks_age(void);

#endif
