/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/blocks.h"

#include "kmeans/points/memory.h"

#include <errno.h>

/* Returns the number of points in a block, a whole number of panels. */
static size_t points_in_block(const km_block_job *job, size_t n, int threads) {
    enum { BLOCKS_PER_THREAD = 4 }; /* at least, so that threads finish at about the same time */
    const km_kernel *kernel = job->kernel;
    const size_t panel_bytes = job->groups * kernel->group * kernel->element * kernel->points,
                 fair = km_quotient_up(n, (size_t)threads * BLOCKS_PER_THREAD),
                 panels =
                     km_smaller(job->bytes / panel_bytes, km_quotient_up(fair, kernel->points));
    return km_larger(panels, 1) * kernel->points;
}

int km_process_blocks(const km_block_job *job, size_t n, int threads) {
    const size_t size = points_in_block(job, n, threads), blocks = km_quotient_up(n, size);
    threads = (int)km_larger(km_smaller((size_t)threads, blocks), 1);
    int error = 0;
#pragma omp parallel num_threads(threads) reduction(| : error)
    {
        void *scratch = job->create_scratch(job->context, size);
        error = scratch ? 0 : ENOMEM;
#pragma omp for schedule(dynamic)
        for (size_t block = 0; block < blocks; block++) {
            size_t first = block * size;
            if (scratch)
                job->process(job->context, first, km_smaller(n - first, size), scratch);
        }
        if (scratch)
            job->free_scratch(scratch);
    }
    return error;
}
