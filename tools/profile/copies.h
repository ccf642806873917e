/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures copies in memory: the cost model's Mctc, Mctm and Mmtm. Does not use MPI. */
#ifndef COLL_TOOLS_PROFILE_COPIES_H
#define COLL_TOOLS_PROFILE_COPIES_H

#include <coll_tools.h>
#include <stdbool.h>

enum { COPIES_SIZES = 8 };

/* The sizes in bytes, 64 to 1M, ascending. */
extern const double copies_size[COPIES_SIZES];

/*
 * Sets SECONDS to the time of one copy, by source and destination, at each size: the minimum of
 * several medians. Takes about 0.2 s. Returns false if memory is short.
 */
bool copies_measure(double seconds[COLL_COPIES][COPIES_SIZES]);

#endif
