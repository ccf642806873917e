#include "config.h"

#include "kmeans/points/fingerprint.h"

#include "app/checksum.h"
#include "kmeans/points/random.h"

bool km_fingerprint(const km_points *points, int threads, MPI_Comm comm, uint64_t *fingerprint,
                    app_problem *problem) {
    uint64_t sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (size_t i = 0; i < points->rows; i++) {
        uint32_t checksum = app_checksum(0, points->data + i * points->dim, points->dim);
        sum += km_mix(km_mix(points->first + i + 1) ^ checksum);
    }
    app_mpi(problem, MPI_Allreduce(&sum, fingerprint, 1, MPI_UINT64_T, MPI_SUM, comm));
    return app_agree(problem, comm);
}
