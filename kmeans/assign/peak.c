#include "config.h"

#include "kmeans/assign/peak.h"

#include <time.h>

double km_cpu_seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Of the calling thread alone: a process's time is not up to date for threads that run elsewhere.
 */
static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double km_peak(const km_kernel *kernel, int threads) {
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
