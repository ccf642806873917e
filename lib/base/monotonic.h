/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's clock, for what does not involve MPI. */
#ifndef COLL_LIB_BASE_MONOTONIC_H
#define COLL_LIB_BASE_MONOTONIC_H

/* Returns the seconds of the monotonic clock, which starts at a different time on each host. */
double coll_monotonic(void);

#endif
