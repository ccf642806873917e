/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "watch/ticks.h"

static uint64_t first_ticks, first_nanoseconds;

void watch_ticks_begin(void) {
    first_nanoseconds = coll_nanoseconds();
    first_ticks = coll_ticks();
}

double watch_ticks_nanoseconds(void) {
    uint64_t now = coll_ticks(), passed = coll_nanoseconds() - first_nanoseconds;
    return now > first_ticks ? (double)passed / (double)(now - first_ticks) : 0;
}

uint64_t watch_ticks_ago(uint64_t ticks) {
    uint64_t now = coll_ticks();
    return now > ticks ? watch_ticks_length(now - ticks) : 0;
}

uint64_t watch_ticks_length(uint64_t ticks) {
    return (uint64_t)((double)ticks * watch_ticks_nanoseconds());
}

uint64_t watch_ticks_age(void) {
    return coll_nanoseconds() - first_nanoseconds;
}
