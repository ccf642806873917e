/* SPDX-License-Identifier: BSD-3-Clause */
/* A clock that costs a few nanoseconds. */
#ifndef COLL_LIB_BASE_TICKS_H
#define COLL_LIB_BASE_TICKS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t coll_nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * Returns a counter that advances at a steady rate; in nanoseconds if the processor has no faster
 * counter.
 */
static inline uint64_t coll_ticks(void) {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return coll_nanoseconds();
#endif
}

#endif
