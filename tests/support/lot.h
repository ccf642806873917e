/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers for unit tests: a linear congruential generator. A test sets its seed. */
#ifndef COLL_TESTS_SUPPORT_LOT_H
#define COLL_TESTS_SUPPORT_LOT_H

#include <stdint.h>

static uint64_t seed;

/* Returns a random number from 0 to below 1. */
static inline double lot(void) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 33) / 2147483648.0;
}

#endif
