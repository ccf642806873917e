/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/monotonic.h"

#include <time.h>

double coll_monotonic(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
