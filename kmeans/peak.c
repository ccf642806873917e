#include "kmeans/peak.h"

#include <time.h>

double km_cpu_seconds(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

double km_peak(const km_kernel *kernel, int threads) {
    const size_t rounds = 10000000;
    double operations = 0, start = km_cpu_seconds();
#pragma omp parallel num_threads(threads) reduction(+ : operations)
    operations += kernel->burn(rounds);
    return operations / (km_cpu_seconds() - start) * threads;
}
