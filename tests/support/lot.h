/* SPDX-License-Identifier: BSD-3-Clause */
/* Random fractions for unit tests. A test sets the state of LOTS. */
#ifndef COLL_TESTS_SUPPORT_LOT_H
#define COLL_TESTS_SUPPORT_LOT_H

#include "tests/support/generator.h"

static generator lots;

/* Returns a random number from 0 to below 1. */
static inline double lot(void) {
    return (double)(draw(&lots) >> 33) / 2147483648.0;
}

#endif
