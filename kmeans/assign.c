/*
 * Points go through in blocks: a thread packs one, then takes the centroids a cacheful at a time,
 * and for each panel of points in the block runs over those. So a panel of points stays in the
 * first cache and the centroids in the second, and from memory the centroids come once per block of
 * points, seldom enough for the arithmetic to set the pace.
 */
#include "kmeans/assign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 64,
    CACHE_LINE = 64,
    POINT_BYTES = 1 << 20,    /* of a block of packed points */
    CENTROID_BYTES = 1 << 18, /* of centroids that a second-level cache holds with room to spare */
    BLOCKS_PER_THREAD = 4,    /* at least, so that threads end at about the same time */
};

struct km_centroids {
    const km_kernel *kernel;
    size_t dim;
    size_t groups;
    size_t panels;
    size_t panel_bytes;
    unsigned char *data;
    uint32_t *norms;
};

/* What a thread works in: a block of packed points, and their best centroids so far. */
typedef struct workspace {
    size_t points;
    size_t panel_bytes;
    unsigned char *data;
    uint32_t *corrections;
    uint32_t *best;
    uint32_t *nearest;
    void *scratch; /* of a tile */
} workspace;

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t quotient_up(size_t a, size_t b) {
    return a / b + (a % b != 0);
}

/* COUNT * BYTES of memory that vectors may be loaded from; NULL when there is not that much. */
static void *allocate(size_t count, size_t bytes) {
    if (count > (SIZE_MAX - ALIGNMENT) / bytes)
        return NULL;
    return aligned_alloc(ALIGNMENT, quotient_up(count * bytes, ALIGNMENT) * ALIGNMENT);
}

static size_t row_bytes(const km_centroids *centroids) {
    return centroids->dim * (centroids->kernel->real ? sizeof(float) : 1);
}

int km_centroids_create(const uint8_t *centroids, size_t k, size_t dim, const km_kernel *kernel,
                        int threads, km_centroids **packed) {
    if (threads < 1 || k < 1 || k > UINT32_MAX || dim < 1 || dim > KM_MAX_DIM)
        return EINVAL;
    km_centroids *made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    made->kernel = kernel;
    made->dim = dim;
    made->groups = quotient_up(dim, kernel->group);
    made->panels = quotient_up(k, kernel->centroids);
    made->panel_bytes = made->groups * kernel->group * kernel->element * kernel->centroids;
    made->data = allocate(made->panels, made->panel_bytes);
    made->norms = allocate(made->panels, kernel->centroids * sizeof *made->norms);
    if (!made->data || !made->norms) {
        km_centroids_free(made);
        return ENOMEM;
    }

#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t panel = 0; panel < made->panels; panel++) {
        size_t first = panel * kernel->centroids;
        kernel->pack_centroids(kernel, centroids + first * row_bytes(made),
                               smaller(k - first, kernel->centroids), dim,
                               made->data + panel * made->panel_bytes, made->norms + first);
    }
    *packed = made;
    return 0;
}

void km_centroids_free(km_centroids *centroids) {
    if (!centroids)
        return;
    free(centroids->data);
    free(centroids->norms);
    free(centroids);
}

static void workspace_free(workspace *space) {
    free(space->data);
    free(space->corrections);
    free(space->best);
    free(space->nearest);
    free(space->scratch);
}

/* Room for POINTS points, a whole number of panels; false when memory is short. */
static bool workspace_create(workspace *space, size_t points, const km_centroids *centroids) {
    const km_kernel *kernel = centroids->kernel;
    size_t point_bytes = centroids->groups * kernel->group * kernel->element;
    space->points = points;
    space->panel_bytes = kernel->points * point_bytes;
    space->data = allocate(points, point_bytes);
    space->corrections = allocate(points, sizeof *space->corrections);
    space->best = allocate(points, sizeof *space->best);
    space->nearest = allocate(points, sizeof *space->nearest);
    space->scratch = allocate(kernel->scratch + 1, 1);
    if (space->data && space->corrections && space->best && space->nearest && space->scratch)
        return true;
    workspace_free(space);
    return false;
}

/* How many points make a block, when THREADS threads share N points: a whole number of panels. */
static size_t block_points(size_t n, int threads, const km_centroids *centroids) {
    const km_kernel *kernel = centroids->kernel;
    size_t panel_bytes = centroids->groups * kernel->group * kernel->element * kernel->points;
    size_t fair = quotient_up(n, (size_t)threads * BLOCKS_PER_THREAD);
    size_t panels = smaller(POINT_BYTES / panel_bytes, quotient_up(fair, kernel->points));
    return larger(panels, 1) * kernel->points;
}

/*
 * Lowers the best of the panel of points that begins with number I by the centroids of the panels
 * START to END - 1, and meanwhile prefetches NEXT, the rows of points that are wanted after these:
 * a share for each panel, in this very loop, for gcc drops a call that only prefetches.
 */
static void sweep(const km_centroids *centroids, size_t start, size_t end, const workspace *space,
                  size_t i, const uint8_t *next, size_t next_bytes) {
    const km_kernel *kernel = centroids->kernel;
    const unsigned char *points = space->data + i / kernel->points * space->panel_bytes;
    size_t share = quotient_up(next_bytes, end - start), fetched = 0;
    for (size_t panel = start; panel < end; panel++) {
        size_t first = panel * kernel->centroids;
        kernel->tile(points, space->corrections + i,
                     centroids->data + panel * centroids->panel_bytes, centroids->norms + first,
                     centroids->groups, (uint32_t)first, space->best + i, space->nearest + i,
                     space->scratch);
        size_t wanted = smaller(fetched + share, next_bytes);
        for (; fetched < wanted; fetched += CACHE_LINE)
            __builtin_prefetch(next + fetched);
    }
}

/* Finds the best centroids of N points, which fit in SPACE. */
static void search(const uint8_t *points, size_t n, const km_centroids *centroids,
                   const workspace *space) {
    const km_kernel *kernel = centroids->kernel;
    size_t step = kernel->points, dim = centroids->dim, bytes = row_bytes(centroids);
    size_t cached = larger(CENTROID_BYTES / centroids->panel_bytes, 1);
    size_t end = smaller(cached, centroids->panels);
    for (size_t i = 0; i < space->points; i++)
        space->best[i] = KM_NO_SCORE;
    for (size_t i = 0; i < n; i += step) {
        size_t here = smaller(n - i, step), next = smaller(n - i - here, step);
        kernel->pack(points + i * bytes, here, dim, space->data + i / step * space->panel_bytes,
                     space->corrections + i);
        sweep(centroids, 0, end, space, i, points + (i + here) * bytes, next * bytes);
    }
    for (size_t start = end; start < centroids->panels; start = end) {
        end = smaller(start + cached, centroids->panels);
        for (size_t i = 0; i < n; i += step)
            sweep(centroids, start, end, space, i, NULL, 0);
    }
}

/* The distances of N points to the nearest centroids that search found. */
static void measure(size_t n, const km_centroids *centroids, const workspace *space,
                    uint32_t *distance) {
    bool real = centroids->kernel->real; /* whose best are distances already */
    for (size_t i = 0; i < n; i++)
        distance[i] = space->best[i] + (real ? 0 : space->corrections[i]);
}

static void assign_block(const uint8_t *points, size_t n, const km_centroids *centroids,
                         const workspace *space, uint32_t *nearest, uint32_t *distance) {
    search(points, n, centroids, space);
    memcpy(nearest, space->nearest, n * sizeof *nearest);
    if (distance)
        measure(n, centroids, space, distance);
}

int km_assign(const uint8_t *points, size_t n, size_t dim, const km_centroids *centroids,
              int threads, uint32_t *nearest, uint32_t *distance) {
    if (threads < 1 || dim != centroids->dim)
        return EINVAL;
    size_t size = block_points(n, threads, centroids);
    size_t blocks = quotient_up(n, size);
    threads = (int)larger(smaller((size_t)threads, blocks), 1);
    int error = 0;
#pragma omp parallel num_threads(threads) reduction(| : error)
    {
        workspace space;
        if (!workspace_create(&space, size, centroids))
            error = ENOMEM;
#pragma omp for schedule(dynamic)
        for (size_t block = 0; block < blocks; block++) {
            size_t first = block * size;
            if (!error)
                assign_block(points + first * row_bytes(centroids), smaller(n - first, size),
                             centroids, &space, nearest + first,
                             distance ? distance + first : NULL);
        }
        if (!error)
            workspace_free(&space);
    }
    return error;
}
