/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the speed of the assignment and the processor's peak. */
#ifndef COLL_KMEANS_BENCHMARK_H
#define COLL_KMEANS_BENCHMARK_H

#include "kmeans/assign/kernel.h"

#include <stdio.h>

/*
 * A measurement, in multiplications and additions per second of all threads together: two for each
 * dimension of each pair of a point and a centroid. Time is processor time divided by the number of
 * threads.
 */
typedef struct km_rate {
    size_t points; /* fewer than asked for if the kernel is slow */
    double achieved;
    double peak;
} km_rate;

/*
 * Measures TIMES times, in turn, the speed of an assignment of N random points to K random
 * centroids (including the packing of both) and the kernel's peak speed. Sets RATE to the best of
 * each. Returns 0, ENOMEM or EINVAL.
 */
int km_measure(const km_kernel *kernel, int threads, size_t n, size_t k, size_t dim, int times,
               km_rate *rate);

/*
 * Measures every kernel that runs here at the sizes of image features, prints a table, and writes
 * the same figures as JSON lines to JSON unless that is NULL. Takes some 30 seconds of processor
 * time. Returns 0, ENOMEM or EINVAL.
 */
int km_benchmark(int threads, FILE *json);

#endif
