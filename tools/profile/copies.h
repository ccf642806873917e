/* Measures copies in memory: the cost model's Mctc, Mctm and Mmtm. No MPI. */
#ifndef COLL_TOOLS_PROFILE_COPIES_H
#define COLL_TOOLS_PROFILE_COPIES_H

#include <coll_tools.h>
#include <stdbool.h>

enum { COPIES_SIZES = 8 };

/* The sizes in bytes, 64 to 1M, ascending. */
extern const double copies_size[COPIES_SIZES];

/*
 * Seconds of one copy by where it comes from and goes to, at each size: the least of several
 * medians. Takes some 0.2 s. False without memory.
 */
bool copies_measure(double seconds[COLL_COPIES][COPIES_SIZES]);

#endif
