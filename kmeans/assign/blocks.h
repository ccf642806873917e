/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes the points of an assignment in blocks that fit a cache, on several threads. */
#ifndef COLL_KMEANS_ASSIGN_BLOCKS_H
#define COLL_KMEANS_ASSIGN_BLOCKS_H

#include "kmeans/assign/kernel.h"

#include <stddef.h>

/* The work on each block. */
typedef struct km_block_job {
    const km_kernel *kernel;
    size_t groups; /* of dimensions, in a packed point */
    size_t bytes; /* the most that the packed points of a block take, unless one panel takes more */
    const void *context;
    /*
     * Allocates a thread's scratch memory for blocks of at most POINTS points, a whole number of
     * panels. Returns NULL if memory is short.
     */
    void *(*create_scratch)(const void *context, size_t points);
    void (*free_scratch)(void *scratch);
    /* Processes N points from number FIRST on. */
    void (*process)(const void *context, size_t first, size_t n, void *scratch);
} km_block_job;

/* Processes N points on at most THREADS threads, each point once. Returns 0 or ENOMEM. */
int km_process_blocks(const km_block_job *job, size_t n, int threads);

#endif
