/* What a core can do at most, to hold the assignment's speed against. */
#ifndef COLL_KMEANS_ASSIGN_PEAK_H
#define COLL_KMEANS_ASSIGN_PEAK_H

#include "kmeans/assign/kernel.h"

/* Processor seconds of all threads of this process so far: other jobs do not count. */
double km_cpu_seconds(void);

/*
 * Multiplications and additions a second of THREADS threads together when each runs KERNEL's
 * instruction on registers alone. Takes some 10 milliseconds; the best of several calls is the
 * peak.
 */
double km_peak(const km_kernel *kernel, int threads);

#endif
