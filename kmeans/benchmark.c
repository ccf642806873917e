/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/benchmark.h"

#include "app/json.h"
#include "kmeans/assign/assign.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static const size_t points = 100000, dimensions = 512;
static const size_t centroid_counts[] = {256, 1024, 10000};
static const int repetitions = 5;

/* Longest assignment, in seconds at peak speed: slow kernels get fewer points. */
static const double longest = 1;

/* Returns a block of random bytes (xorshift64), or NULL if memory is short. The caller frees it. */
static uint8_t *random_bytes(size_t size) {
    uint8_t *bytes = malloc(size);
    uint64_t state = UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; bytes && i < size; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes[i] = (uint8_t)(state >> 56);
    }
    return bytes;
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

/* Returns the processor time of all threads of this process, so that other jobs do not count. */
static double process_seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

/*
 * Returns the processor time of the calling thread. clock() would not do here: it may lag behind
 * for threads on other processors.
 */
static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/*
 * Returns the multiplications and additions per second of THREADS threads together if each runs
 * KERNEL's instruction on registers alone, for some 10 milliseconds. The best of several calls is
 * the peak.
 */
static double peak_of(const km_kernel *kernel, int threads) {
    const size_t rounds = 10000000;
    double operations = 0, seconds = 0;
#pragma omp parallel num_threads(threads) reduction(+ : operations, seconds)
    {
        double start = thread_seconds();
        operations += kernel->burn(rounds);
        seconds += thread_seconds() - start;
    }
    return operations / seconds * threads;
}

/*
 * Measures the operations per second of one assignment. The centroids follow the N points in ROWS.
 */
static int time_assignment(const km_kernel *kernel, const uint8_t *rows, size_t n, size_t k,
                           size_t dim, int threads, uint32_t *results, double *speed) {
    km_centroids *centroids = NULL;
    double start = process_seconds();
    int error = km_centroids_create(rows + n * dim, k, dim, false, kernel, threads, &centroids);
    if (!error)
        error = km_assign(rows, n, dim, centroids, threads, results, results + n);
    double seconds = (process_seconds() - start) / threads;
    *speed = 2.0 * (double)n * (double)k * (double)dim / seconds;
    km_centroids_free(centroids);
    return error;
}

int km_measure(const km_kernel *kernel, int threads, size_t n, size_t k, size_t dim, int times,
               km_rate *rate) {
    if (threads < 1 || n < 1 || times < 1)
        return EINVAL;
    km_rate found = {.peak = peak_of(kernel, threads)};
    double affordable = longest * found.peak / (2.0 * (double)k * (double)dim);
    found.points = affordable < (double)n ? (size_t)larger(affordable, 1) : n;

    uint8_t *rows = random_bytes((found.points + k) * dim);
    uint32_t *results = calloc(found.points, 2 * sizeof *results);
    int error = rows && results ? 0 : ENOMEM;
    for (int i = 0; !error && i < times; i++) {
        double speed;
        error = time_assignment(kernel, rows, found.points, k, dim, threads, results, &speed);
        found.achieved = larger(found.achieved, speed);
        found.peak = larger(found.peak, peak_of(kernel, threads));
    }
    free(results);
    free(rows);
    if (!error)
        *rate = found;
    return error;
}

static void print_row(const km_kernel *kernel, size_t k, const km_rate *rate) {
    printf("%-12s %-22s %8zu %10zu %10zu %9.1f %9.1f %6.1f%%\n", kernel->name, kernel->instruction,
           rate->points, k, dimensions, rate->achieved / 1e9, rate->peak / 1e9,
           100 * rate->achieved / rate->peak);
    fflush(stdout);
}

static void print_json(FILE *file, const km_kernel *kernel, int threads, size_t k,
                       const km_rate *rate) {
    app_json(file, app_json_text("kernel", kernel->name),
             app_json_text("instruction", kernel->instruction),
             app_json_integer("threads", threads),
             app_json_integer("points", (int64_t)rate->points),
             app_json_integer("centroids", (int64_t)k),
             app_json_integer("dimensions", (int64_t)dimensions),
             app_json_number("gops", rate->achieved / 1e9),
             app_json_number("peak_gops", rate->peak / 1e9),
             app_json_number("percent", 100 * rate->achieved / rate->peak));
}

int km_benchmark(int threads, FILE *json) {
    if (threads < 1)
        return EINVAL;
    printf("Assignment of points to their nearest centroids, %d thread%s: billions of\n"
           "multiplications and additions a second of processor time, best of %d.\n\n",
           threads, threads == 1 ? "" : "s", repetitions);
    printf("%-12s %-22s %8s %10s %10s %9s %9s %7s\n", "kernel", "instruction", "points",
           "centroids", "dimensions", "GOP/s", "peak", "of peak");
    for (const km_kernel *const *kernel = km_kernel_list(); *kernel; kernel++) {
        size_t counts = sizeof centroid_counts / sizeof *centroid_counts;
        if (!(*kernel)->supported()) {
            printf("%-12s %-22s not on this processor\n", (*kernel)->name, (*kernel)->instruction);
            continue;
        }
        for (size_t i = 0; i < counts; i++) {
            km_rate rate;
            int error = km_measure(*kernel, threads, points, centroid_counts[i], dimensions,
                                   repetitions, &rate);
            if (error)
                return error;
            print_row(*kernel, centroid_counts[i], &rate);
            print_json(json, *kernel, threads, centroid_counts[i], &rate);
        }
    }
    return 0;
}
