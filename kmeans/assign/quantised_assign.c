/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points are processed in blocks. A thread quantises a block of points, then takes as many
 * centroids at a time as fit in the second-level cache and compares each panel of points with them.
 */
#include "kmeans/assign/quantised_bounds.h"

#include "kmeans/assign/blocks.h"
#include "kmeans/points/memory.h"
#include "kmeans/points/real.h"

enum {
    POINT_BYTES = 1 << 18, /* bytes of the quantised points in a block, unless one panel has more */
};

/* A thread's scratch memory. */
typedef struct workspace {
    km_block block;
    km_search plain;     /* without bounds */
    km_bounded *bounded; /* with bounds; else NULL */
} workspace;

/* A query and its results. */
typedef struct assignment {
    const km_query *query;
    const km_quantised *centroids;
    const uint32_t *guess;
    uint32_t *nearest, *distance;
} assignment;

static void free_workspace(void *scratch) {
    workspace *space = scratch;
    km_block_free(&space->block);
    km_search_free(&space->plain);
    km_bounded_free(space->bounded);
    free(space);
}

/* Allocates scratch memory for blocks of POINTS points; see blocks.h. */
static void *create_workspace(const void *context, size_t points) {
    const km_quantised *centroids = ((const assignment *)context)->centroids;
    workspace *space = calloc(1, sizeof *space);
    if (!space || !km_block_create(points, centroids, &space->block)) {
        free(space);
        return NULL;
    }
    bool good;
    if (centroids->bounds)
        good = (space->bounded = km_bounded_create(&space->block, points)) != NULL;
    else
        good = km_search_create(&space->block, NULL, &space->plain);
    if (good)
        return space;
    free_workspace(space);
    return NULL;
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
static void search_points(const assignment *this, size_t first, size_t n, workspace *space) {
    const km_quantised *centroids = this->centroids;
    km_block_prepare(&space->block, this->query, first, n, this->guess);
    if (!space->bounded) {
        search_block(space, 0, n);
        return;
    }
    km_bounded_begin(space->bounded, this->query, first, n);
    search_block(space, centroids->starts[centroids->bounds->groups], n);
    km_bounded_end(space->bounded, n);
}

static void assign_block(const void *context, size_t first, size_t n, void *scratch) {
    const assignment *this = context;
    workspace *space = scratch;
    search_points(this, first, n, space);
    memcpy(this->nearest + first, space->block.nearest, n * sizeof *this->nearest);
    for (size_t i = 0; this->distance && i < n; i++)
        this->distance[first + i] = km_real_bits(space->block.best[i]);
}

int km_quantised_assign(const km_query *query, const km_quantised *centroids, int threads,
                        const uint32_t *guess, uint32_t *nearest, uint32_t *distance) {
    const assignment all = {query, centroids, guess, nearest, distance};
    const km_block_job job = {.kernel = centroids->kernel,
                              .groups = centroids->groups,
                              .bytes = POINT_BYTES,
                              .context = &all,
                              .create_scratch = create_workspace,
                              .free_scratch = free_workspace,
                              .process = assign_block};
    return km_process_blocks(&job, query->n, threads);
}
