/* The barriers; lib/registry.c has the table of them all. */
#ifndef COLL_LIB_BARRIER_BARRIER_H
#define COLL_LIB_BARRIER_BARRIER_H

#include "lib/schedule/plan.h"

extern const coll_algorithm coll_barrier_dissemination, coll_barrier_racks;

enum { COLL_BARRIER_RADIX = 64 }; /* at most */

/*
 * How each of COUNT ranks hears of all of them: in round j it tells those that are 1, 2, ...,
 * RADIX - 1 times RADIX^j places behind it in RANKS what it has heard of, and hears of as many from
 * before it. There are as many rounds as digits (lib/pattern/radix.h). Writes ROUND's steps of the
 * one at PLACE, and returns how many there are.
 */
int coll_barrier_round(const int ranks[], int count, int place, int radix, int round,
                       coll_step steps[]);

#endif
