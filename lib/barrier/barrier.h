/* SPDX-License-Identifier: BSD-3-Clause */
/* The barrier algorithms; their table is in lib/api/registry.c. */
#ifndef COLL_LIB_BARRIER_BARRIER_H
#define COLL_LIB_BARRIER_BARRIER_H

#include "lib/plan/plan.h"

extern const coll_algorithm coll_barrier_dissemination, coll_barrier_racks,
    coll_barrier_multi_leader;

/* Not in the table: the algorithms of Open MPI, for predictions (usual.c). */
extern const coll_algorithm coll_barrier_usual_linear, coll_barrier_usual_doubling;

enum { COLL_BARRIER_RADIX = 64 }; /* the highest radix */

/*
 * Writes the steps in ROUND of the rank at PLACE in a dissemination among the COUNT ranks in RANKS,
 * and returns their number. In round j a rank sends a message to the ranks that are 1, 2, ...,
 * RADIX - 1 times RADIX^j places behind it, and receives one from each rank that is as many places
 * before it. After coll_radix_digits(COUNT, RADIX) rounds (lib/pattern/radix.h) each rank knows,
 * directly or indirectly, that all ranks have arrived.
 */
int coll_barrier_round(const int ranks[], int count, int place, int radix, int round,
                       coll_step steps[]);

#endif
