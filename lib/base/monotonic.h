/* The clock of this host for what isn't MPI's: waits of its own, and the kernel's answers. */
#ifndef COLL_LIB_BASE_MONOTONIC_H
#define COLL_LIB_BASE_MONOTONIC_H

/* Seconds of the monotonic clock, from a start that is the host's own. */
double coll_monotonic(void);

#endif
