/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points are processed in blocks. A thread quantises a block of points, then takes as many
 * centroids at a time as fit in the second-level cache and compares each panel of points with them.
 */
#include "kmeans/assign/quantised_bounds.h"

#include "kmeans/points/memory.h"
#include "kmeans/points/real.h"

#include <errno.h>

enum {
    POINT_BYTES = 1 << 18, /* of quantised points in a block */
};

/* A thread's scratch memory. */
typedef struct workspace {
    km_block block;
    km_search plain;     /* without bounds */
    km_bounded *bounded; /* with bounds; else NULL */
} workspace;

static void workspace_free(workspace *space) {
    km_block_free(&space->block);
    km_search_free(&space->plain);
    km_bounded_free(space->bounded);
}

/* Allocates scratch memory for POINTS points, a whole number of panels. */
static bool workspace_create(workspace *space, size_t points, const km_quantised *centroids) {
    *space = (workspace){.bounded = NULL};
    if (!km_block_create(points, centroids, &space->block))
        return false;
    bool good;
    if (centroids->bounds)
        good = (space->bounded = km_bounded_create(&space->block, points)) != NULL;
    else
        good = km_search_create(&space->block, NULL, &space->plain);
    if (!good)
        workspace_free(space);
    return good;
}

/* Compares a block of N points with all centroids from panel START on. */
static void search_block(workspace *space, size_t start, size_t n) {
    const km_quantised *centroids = space->block.centroids;
    km_search *search = space->bounded ? km_bounded_search(space->bounded) : &space->plain;
    for (size_t end; start < centroids->panels; start = end) {
        end = km_smaller(start + centroids->cached, centroids->panels);
        for (size_t i = 0; i < n; i += centroids->kernel->points) {
            const km_quantised_panel panel = km_block_panel(&space->block, i, n);
            km_search_panels(search, &panel, start, end);
            if (space->bounded)
                km_bounded_store(space->bounded, &panel);
        }
    }
}

/* Finds the nearest centroids of N points of the query, from number FIRST on. */
static void assign_block(const km_query *query, size_t first, size_t n, const uint32_t *guess,
                         workspace *space) {
    const km_quantised *centroids = space->block.centroids;
    km_block_prepare(&space->block, query, first, n, guess);
    if (!space->bounded) {
        search_block(space, 0, n);
        return;
    }
    km_bounded_begin(space->bounded, query, first, n);
    search_block(space, centroids->starts[centroids->bounds->groups], n);
    km_bounded_end(space->bounded, n);
}

int km_quantised_assign(const km_query *query, const km_quantised *centroids, int threads,
                        const uint32_t *guess, uint32_t *nearest, uint32_t *distance) {
    size_t size =
        km_block_points(centroids->kernel, centroids->groups, query->n, threads, POINT_BYTES);
    size_t blocks = km_quotient_up(query->n, size);
    threads = (int)km_larger(km_smaller((size_t)threads, blocks), 1);
    int error = 0;
#pragma omp parallel num_threads(threads) reduction(| : error)
    {
        workspace space;
        if (!workspace_create(&space, size, centroids))
            error = ENOMEM;
#pragma omp for schedule(dynamic)
        for (size_t block = 0; block < blocks; block++) {
            size_t first = block * size, n = km_smaller(query->n - first, size);
            if (error)
                continue;
            assign_block(query, first, n, guess, &space);
            memcpy(nearest + first, space.block.nearest, n * sizeof *nearest);
            for (size_t i = 0; distance && i < n; i++)
                distance[first + i] = km_real_bits(space.block.best[i]);
        }
        if (!error)
            workspace_free(&space);
    }
    return error;
}
