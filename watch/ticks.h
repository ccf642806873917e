/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the ticks of lib/base/ticks.h to nanoseconds. */
#ifndef COLL_WATCH_TICKS_H
#define COLL_WATCH_TICKS_H

#include "lib/base/ticks.h"

/* Starts the measurement of the length of a tick. */
void watch_ticks_begin(void);

/* Returns the nanoseconds that a tick takes. */
double watch_ticks_nanoseconds(void);

/* Returns how many nanoseconds ago coll_ticks returned TICKS. */
uint64_t watch_ticks_ago(uint64_t ticks);

/* Returns the length of TICKS ticks in nanoseconds. */
uint64_t watch_ticks_length(uint64_t ticks);

/* Returns the nanoseconds since watch_ticks_begin. */
uint64_t watch_ticks_age(void);

#endif
