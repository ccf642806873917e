/* How fast the assignment runs, beside the processor's peak. */
#ifndef COLL_KMEANS_BENCHMARK_H
#define COLL_KMEANS_BENCHMARK_H

#include "kmeans/assign/kernel.h"

#include <stdio.h>

/*
 * What was measured, in multiplications and additions a second of all threads together: two for
 * each dimension of each pair of a point and a centroid. Time is processor time, shared out evenly
 * over the threads.
 */
typedef struct km_rate {
    size_t points; /* fewer than asked for where the kernel is slow */
    double achieved;
    double peak;
} km_rate;

/*
 * The best of TIMES assignments of N random points to K random centroids, packing of
 * both included, and the peak, measured in turns with them. Returns 0, ENOMEM or EINVAL.
 */
int km_measure(const km_kernel *kernel, int threads, size_t n, size_t k, size_t dim, int times,
               km_rate *rate);

/*
 * Measures every kernel that runs here at the sizes of image features, and prints a table;
 * the same as JSON lines to JSON unless that is NULL. Takes some 30 seconds of processor time.
 * Returns 0, ENOMEM or EINVAL.
 */
int km_benchmark(int threads, FILE *json);

#endif
