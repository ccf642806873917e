/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points are processed in blocks. A thread packs one block of points, then takes as many centroids
 * at a time as fit in the second-level cache and compares each panel of points with them. So a
 * panel of points stays in the first-level cache, and each centroid is read from memory once per
 * block, seldom enough for arithmetic to limit the speed.
 *
 * With pruning (pruning.h), the distance to a guessed centroid rules out most other centroids.
 */
#include "kmeans/assign/assign.h"

#include "kmeans/assign/blocks.h"
#include "kmeans/assign/pack.h"
#include "kmeans/assign/pruning.h"
#include "kmeans/assign/quantised.h"
#include "kmeans/points/fixed_point.h"
#include "kmeans/points/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    CACHE_LINE = 64,
    POINT_BYTES = 1 << 20,    /* bytes of the packed points in a block, unless one panel has more */
    CENTROID_BYTES = 1 << 18, /* bytes of the centroids with which a block of points is compared at
                                 a time; they fit a second-level cache with room to spare */
};

struct km_centroids {
    const km_kernel *kernel;
    size_t k, dim;
    size_t groups;
    size_t panels;
    size_t panel_bytes;
    size_t cached;       /* panels that fit the cache together */
    unsigned char *data; /* panels, in the order of the caller or of the pruning index */
    uint32_t *norms;
    km_pruning *pruning;         /* or NULL */
    km_fixed_point *fixed_point; /* NULL if centroids are bytes */
    km_quantised *quantised;     /* NULL for bytes; else only this, kernel, k and dim are used */
};

/* A thread's scratch memory: a block of points, and their best centroids so far. */
typedef struct workspace {
    size_t points;
    const uint8_t **rows; /* the rows of the block */
    size_t panel_bytes;
    unsigned char *data; /* the points, packed */
    uint8_t *gathered;   /* the rows of a panel, made contiguous */
    uint32_t *corrections;
    uint32_t *best;
    uint32_t *nearest;
    uint64_t *exact_best;          /* only for fixed-point centroids */
    km_tile_scratch *tile_scratch; /* this and all below: only with pruning */
    bool *packed;                  /* which panels of data have been packed */
    float *distances;
    km_tally tally; /* of the block */
    struct { /* for each filter level, see km_point_panel; the level of rows has only floors here,
                and uses data and corrections above */
        size_t bytes; /* bytes of a packed point */
        unsigned char *panels;
        uint32_t *corrections;
        float *errors;
        int32_t *floors;
    } levels[KM_FILTER_LEVELS];
} workspace;

int km_centroids_create(const uint8_t *centroids, size_t k, size_t dim, bool real,
                        const km_kernel *kernel, int threads, km_centroids **packed) {
    if (threads < 1 || k < 1 || k > UINT32_MAX || dim < 1 || dim > KM_MAX_DIM)
        return EINVAL;
    km_centroids *made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    made->kernel = kernel;
    made->k = k;
    made->dim = dim;
    if (real) {
        int error = km_quantised_create((const float *)centroids, k, dim, kernel, NULL, NULL,
                                        threads, &made->quantised);
        if (error)
            free(made);
        else
            *packed = made;
        return error;
    }
    made->groups = km_quotient_up(dim, kernel->group);
    made->panels = km_quotient_up(k, kernel->centroids);
    made->panel_bytes = made->groups * kernel->group * kernel->element * kernel->centroids;
    made->cached = km_larger(CENTROID_BYTES / made->panel_bytes, 1);
    made->data = km_allocate(made->panels, made->panel_bytes);
    made->norms = km_allocate(made->panels, kernel->centroids * sizeof *made->norms);
    if (!made->data || !made->norms) {
        km_centroids_free(made);
        return ENOMEM;
    }

#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t panel = 0; panel < made->panels; panel++) {
        size_t first = panel * kernel->centroids;
        kernel->pack_centroids(kernel, centroids + first * dim,
                               km_smaller(k - first, kernel->centroids), dim,
                               made->data + panel * made->panel_bytes, made->norms + first);
    }
    *packed = made;
    return 0;
}

/* Describes the centroids, whose unpacked rows are ROWS, for a pruning index. */
static km_packed describe_centroids(const km_centroids *centroids, const uint8_t *rows) {
    return (km_packed){.kernel = centroids->kernel,
                       .rows = rows,
                       .k = centroids->k,
                       .dim = centroids->dim,
                       .data = centroids->data,
                       .norms = centroids->norms,
                       .block = centroids->cached,
                       .fixed_point = centroids->fixed_point};
}

int km_centroids_use_caches(km_centroids *centroids, const uint8_t *rows, km_group_bounds *bounds,
                            km_code_cache *cache, int threads) {
    km_quantised *made;
    int error = km_quantised_create((const float *)rows, centroids->k, centroids->dim,
                                    centroids->kernel, bounds, cache, threads, &made);
    if (error)
        return error;
    km_quantised_free(centroids->quantised);
    centroids->quantised = made;
    return 0;
}

int km_centroids_use_fixed_point(km_centroids *centroids, const uint8_t *planes, int threads) {
    const km_planes of = {planes, centroids->k, centroids->dim};
    if (centroids->quantised || centroids->fixed_point || centroids->pruning ||
        centroids->dim > KM_FIXED_POINT_MAX_DIM || threads < 1)
        return EINVAL;
    int error = km_fixed_point_create(&of, threads, &centroids->fixed_point);
    const km_packed packed = describe_centroids(centroids, planes);
    return error ? error : km_pruning_create(&packed, NULL, threads, &centroids->pruning);
}

int km_centroids_prune(km_centroids *centroids, const uint8_t *rows,
                       const km_projection *projection, int threads) {
    if (centroids->quantised || projection->dim != centroids->dim || threads < 1)
        return EINVAL;
    km_pruning_free(centroids->pruning);
    centroids->pruning = NULL;
    const km_packed packed = describe_centroids(centroids, rows);
    return km_pruning_create(&packed, projection, threads, &centroids->pruning);
}

const uint32_t *km_centroids_positions(const km_centroids *centroids) {
    bool sketches = centroids->pruning && km_pruning_sketch_levels(centroids->pruning);
    return sketches ? km_pruning_positions(centroids->pruning) : NULL;
}

void km_centroids_free(km_centroids *centroids) {
    if (!centroids)
        return;
    km_pruning_free(centroids->pruning);
    km_fixed_point_free(centroids->fixed_point);
    km_quantised_free(centroids->quantised);
    free(centroids->data);
    free(centroids->norms);
    free(centroids);
}

static void free_workspace(void *scratch) {
    workspace *space = scratch;
    free(space->rows);
    free(space->data);
    free(space->gathered);
    free(space->corrections);
    free(space->best);
    free(space->nearest);
    free(space->exact_best);
    free(space->tile_scratch);
    free(space->packed);
    free(space->distances);
    for (size_t l = 0; l < KM_FILTER_LEVELS; l++) {
        free(space->levels[l].panels);
        free(space->levels[l].corrections);
        free(space->levels[l].errors);
        free(space->levels[l].floors);
    }
    free(space);
}

/* Allocates the arrays that pruning needs for each filter level. */
static bool allocate_levels(workspace *space, const km_centroids *centroids) {
    const km_kernel *kernel = centroids->kernel;
    size_t sketches = km_pruning_sketch_levels(centroids->pruning);
    bool good = true;
    for (size_t l = 0; l < KM_FILTER_LEVELS; l++) {
        space->levels[l].floors = km_allocate(space->points, sizeof(int32_t));
        good = good && space->levels[l].floors;
    }
    for (size_t l = 0; l < sketches; l++) {
        size_t groups =
            km_quotient_up(km_pruning_sketch_size(centroids->pruning, l), kernel->group);
        space->levels[l].bytes = groups * kernel->group * kernel->element;
        space->levels[l].panels = km_allocate(space->points, space->levels[l].bytes);
        space->levels[l].corrections = km_allocate(space->points, sizeof(uint32_t));
        space->levels[l].errors = km_allocate(space->points, sizeof(float));
        good = good && space->levels[l].panels && space->levels[l].corrections &&
               space->levels[l].errors;
    }
    return good;
}

static bool allocate_pruning(workspace *space, const km_centroids *centroids) {
    if (centroids->fixed_point)
        space->exact_best = km_allocate(space->points, sizeof *space->exact_best);
    space->tile_scratch = km_allocate(1, sizeof *space->tile_scratch);
    space->packed = km_allocate(space->points / centroids->kernel->points, sizeof *space->packed);
    space->distances = km_allocate(space->points, sizeof *space->distances);
    return (space->exact_best || !centroids->fixed_point) && space->tile_scratch && space->packed &&
           space->distances && allocate_levels(space, centroids);
}

/*
 * Compares the panel of points that begins with point I of the block with the panels of centroids
 * START to END - 1. Meanwhile it prefetches the rows of the NEXT points, which follow the HERE
 * points of this panel: an equal share after each panel of centroids. The prefetch is part of this
 * loop because gcc drops a call to a function that only prefetches.
 */
static void compare_panel(const km_centroids *centroids, size_t start, size_t end,
                          const workspace *space, size_t i, size_t here, size_t next) {
    const km_kernel *kernel = centroids->kernel;
    const unsigned char *points = space->data + i / kernel->points * space->panel_bytes;
    const uint8_t *const *rows = space->rows + i + here;
    size_t lines = km_quotient_up(centroids->dim, CACHE_LINE), fetched = 0;
    size_t share = km_quotient_up(next * lines, end - start);
    for (size_t panel = start; panel < end; panel++) {
        size_t first = panel * kernel->centroids;
        kernel->tile(points, space->corrections + i,
                     centroids->data + panel * centroids->panel_bytes, centroids->norms + first,
                     centroids->groups, (uint32_t)first, space->best + i, space->nearest + i);
        size_t wanted = km_smaller(fetched + share, next * lines);
        for (; fetched < wanted; fetched++)
            __builtin_prefetch(rows[fetched / lines] + fetched % lines * CACHE_LINE);
    }
}

/* Packs the panel of N points that begins with point I of the block. */
static void pack_points(size_t i, size_t n, const km_centroids *centroids, const workspace *space) {
    const km_kernel *kernel = centroids->kernel;
    kernel->pack(km_gather(space->rows + i, n, centroids->dim, space->gathered), n, centroids->dim,
                 space->data + i / kernel->points * space->panel_bytes, space->corrections + i);
}

/* Finds the nearest centroids of a block of N points by comparing each point with all centroids. */
static void search_all(size_t n, const km_centroids *centroids, const workspace *space) {
    size_t step = centroids->kernel->points;
    size_t end = km_smaller(centroids->cached, centroids->panels);
    for (size_t i = 0; i < n; i += step) {
        size_t here = km_smaller(n - i, step), next = km_smaller(n - i - here, step);
        pack_points(i, here, centroids, space);
        compare_panel(centroids, 0, end, space, i, here, next);
    }
    for (size_t start = end; start < centroids->panels; start = end) {
        end = km_smaller(start + centroids->cached, centroids->panels);
        for (size_t i = 0; i < n; i += step)
            compare_panel(centroids, start, end, space, i, 0, 0);
    }
}

/* Returns the panel, with its search state, that begins with point I of a block of N points. */
static km_point_panel panel_at(const km_centroids *centroids, workspace *space, size_t n,
                               size_t i) {
    size_t step = centroids->kernel->points,
           sketches = km_pruning_sketch_levels(centroids->pruning);
    km_point_panel panel = {.rows = space->rows + i,
                            .n = km_smaller(n - i, step),
                            .gathered = space->gathered,
                            .packed = space->packed + i / step,
                            .corrections = space->corrections + i,
                            .best = space->best + i,
                            .nearest = space->nearest + i,
                            .distances = space->distances + i,
                            .exact_best = space->exact_best ? space->exact_best + i : NULL,
                            .scratch = space->tile_scratch,
                            .tally = &space->tally};
    for (size_t l = 0; l < KM_FILTER_LEVELS; l++)
        panel.levels[l].floors = space->levels[l].floors + i;
    for (size_t l = 0; l < sketches; l++) {
        panel.levels[l].panel = space->levels[l].panels + i * space->levels[l].bytes;
        panel.levels[l].corrections = space->levels[l].corrections + i;
        panel.levels[l].errors = space->levels[l].errors + i;
    }
    panel.levels[sketches].panel = space->data + i / step * space->panel_bytes;
    panel.levels[sketches].corrections = space->corrections + i;
    return panel;
}

/*
 * Makes the sketches of a block of N points, or copies them from KEPT, where point i has index
 * NUMBERS[i].
 */
static void make_sketches(size_t n, const km_centroids *centroids, const size_t *numbers,
                          const km_sketch_cache *kept, workspace *space) {
    for (size_t i = 0; i < n; i += centroids->kernel->points) {
        km_point_panel panel = panel_at(centroids, space, n, i);
        km_pruning_sketch_points(centroids->pruning, kept ? numbers + i : NULL, kept, &panel);
    }
}

/*
 * Guesses the nearest centroids of N points from sketches alone. If NEAR, looks only at centroids
 * around the nearest ones so far.
 */
static void guess_from_sketches(bool near, size_t n, const km_centroids *centroids,
                                workspace *space) {
    for (size_t i = 0; i < n; i += centroids->kernel->points) {
        km_point_panel panel = panel_at(centroids, space, n, i);
        km_pruning_guess(centroids->pruning, near, &panel);
    }
}

/*
 * Computes the scores of the guessed centroids, with which the search starts. GUESS may be the
 * workspace's array of nearest centroids.
 */
static void score_guesses(const uint32_t *guess, size_t n, const km_centroids *centroids,
                          workspace *space) {
    for (size_t i = 0; i < n; i += centroids->kernel->points) {
        km_point_panel panel = panel_at(centroids, space, n, i);
        km_pruning_start(centroids->pruning, guess + i, &panel);
    }
}

/*
 * Takes the middle one of N points. Returns the number of the block of centroids that contains its
 * nearest centroid so far; 0 if it has none.
 */
static size_t block_around(size_t n, const km_centroids *centroids, const workspace *space) {
    uint32_t near = space->nearest[n / 2];
    size_t rows = centroids->cached * centroids->kernel->centroids;
    return near < centroids->k ? km_pruning_positions(centroids->pruning)[near] / rows : 0;
}

/*
 * Does the same as search_all, with pruning. Starts with a block of centroids that are probably
 * near the points.
 */
static void search_pruned(size_t n, const km_centroids *centroids, workspace *space) {
    const km_pruning *pruning = centroids->pruning;
    size_t step = centroids->kernel->points, cached = centroids->cached;
    size_t blocks = km_quotient_up(centroids->panels, cached);
    size_t first = block_around(n, centroids, space);
    for (size_t turn = 0; turn < blocks; turn++) {
        size_t start = (first + turn) % blocks * cached,
               end = km_smaller(start + cached, centroids->panels),
               next = (first + turn + 1) % blocks * cached,
               from = km_pruning_first_level(pruning, turn, &space->tally);
        for (size_t i = 0; i < n; i += step) {
            km_point_panel panel = panel_at(centroids, space, n, i);
            km_pruning_prefetch(pruning, next, i / step, km_quotient_up(n, step));
            km_pruning_search(pruning, start, end, from, &panel);
        }
    }
}

/* Computes the distances of N points to the nearest centroids that were found. */
static void compute_distances(size_t n, const km_centroids *centroids, const workspace *space,
                              uint32_t *distance) {
    for (size_t i = 0; i < n; i++)
        distance[i] = centroids->fixed_point ? km_fixed_point_bits(space->exact_best[i])
                                             : space->best[i] + space->corrections[i];
}

/* Prepares SPACE for N points of the query, from number FIRST on. */
static void prepare_block(const km_query *query, size_t first, size_t n,
                          const km_centroids *centroids, workspace *space) {
    for (size_t i = 0; i < n; i++) {
        size_t number = km_query_number(query, first + i);
        space->rows[i] = query->rows + number * centroids->dim;
    }
    for (size_t i = 0; i < space->points; i++)
        space->best[i] = KM_NO_SCORE;
    if (!centroids->pruning)
        return;
    memset(space->packed, 0, space->points / centroids->kernel->points * sizeof *space->packed);
    space->tally = (km_tally){{0}, {0}};
    make_sketches(n, centroids, query->which ? query->which + first : NULL, query->kept, space);
}

/* A query and its results. */
typedef struct assignment {
    const km_query *query;
    const km_centroids *centroids;
    const uint32_t *guess;
    uint32_t *nearest, *distance;
} assignment;

/* Allocates scratch memory for blocks of POINTS points; see blocks.h. */
static void *create_workspace(const void *context, size_t points) {
    const km_centroids *centroids = ((const assignment *)context)->centroids;
    const km_kernel *kernel = centroids->kernel;
    size_t point_bytes = centroids->groups * kernel->group * kernel->element;
    workspace *space = calloc(1, sizeof *space);
    if (!space)
        return NULL;
    space->points = points;
    space->panel_bytes = kernel->points * point_bytes;
    space->rows = km_allocate(points, sizeof *space->rows);
    space->data = km_allocate(points, point_bytes);
    space->gathered = km_allocate(kernel->points, centroids->dim);
    space->corrections = km_allocate(points, sizeof *space->corrections);
    space->best = km_allocate(points, sizeof *space->best);
    space->nearest = km_allocate(points, sizeof *space->nearest);
    if (space->rows && space->data && space->gathered && space->corrections && space->best &&
        space->nearest && (!centroids->pruning || allocate_pruning(space, centroids)))
        return space;
    free_workspace(space);
    return NULL;
}

/*
 * Starts with the caller's guesses. If there are none, makes guesses from sketches, if the
 * centroids have sketches.
 */
static void set_guesses(const assignment *this, size_t first, size_t n, workspace *space) {
    const km_centroids *centroids = this->centroids;
    for (size_t i = 0; i < n; i++)
        space->nearest[i] = this->guess ? this->guess[first + i] : UINT32_MAX;
    if (!this->guess && km_pruning_sketch_levels(centroids->pruning))
        guess_from_sketches(false, n, centroids, space);
    score_guesses(space->nearest, n, centroids, space);
}

static void store_results(const assignment *this, size_t first, size_t n, workspace *space) {
    memcpy(this->nearest + first, space->nearest, n * sizeof *this->nearest);
    if (this->distance)
        compute_distances(n, this->centroids, space, this->distance + first);
}

static void assign_block(const void *context, size_t first, size_t n, void *scratch) {
    const assignment *this = context;
    workspace *space = scratch;
    prepare_block(this->query, first, n, this->centroids, space);
    if (this->centroids->pruning) {
        set_guesses(this, first, n, space);
        search_pruned(n, this->centroids, space);
    } else {
        search_all(n, this->centroids, space);
    }
    store_results(this, first, n, space);
}

/*
 * Finds guesses only. If the caller has given guesses, improves them by the sketches of the
 * centroids around them.
 */
static void guess_only_block(const void *context, size_t first, size_t n, void *scratch) {
    const assignment *this = context;
    workspace *space = scratch;
    prepare_block(this->query, first, n, this->centroids, space);
    if (this->guess) {
        memcpy(space->nearest, this->guess + first, n * sizeof *space->nearest);
        guess_from_sketches(true, n, this->centroids, space);
        score_guesses(space->nearest, n, this->centroids, space);
    } else {
        set_guesses(this, first, n, space);
    }
    store_results(this, first, n, space);
}

/* Calls PROCESS for each block of the query. */
static int process_query(const assignment *this, int threads,
                         void (*process)(const void *context, size_t first, size_t n,
                                         void *scratch)) {
    const km_block_job job = {.kernel = this->centroids->kernel,
                              .groups = this->centroids->groups,
                              .bytes = POINT_BYTES,
                              .context = this,
                              .create_scratch = create_workspace,
                              .free_scratch = free_workspace,
                              .process = process};
    return km_process_blocks(&job, this->query->n, threads);
}

int km_assign(const uint8_t *points, size_t n, size_t dim, const km_centroids *centroids,
              int threads, uint32_t *nearest, uint32_t *distance) {
    const km_query query = {.rows = points, .dim = dim, .n = n};
    return km_assign_query(&query, centroids, threads, NULL, nearest, distance);
}

int km_assign_query(const km_query *query, const km_centroids *centroids, int threads,
                    const uint32_t *guess, uint32_t *nearest, uint32_t *distance) {
    if (threads < 1 || query->dim != centroids->dim)
        return EINVAL;
    if (centroids->quantised)
        return km_quantised_assign(query, centroids->quantised, threads, guess, nearest, distance);
    const assignment all = {query, centroids, guess, nearest, distance};
    return process_query(&all, threads, assign_block);
}

int km_guess(const km_query *query, const km_centroids *centroids, int threads, bool again,
             uint32_t *guess, uint32_t *distance) {
    if (threads < 1 || query->dim != centroids->dim || !km_centroids_positions(centroids))
        return EINVAL;
    const assignment all = {query, centroids, again ? guess : NULL, guess, distance};
    return process_query(&all, threads, guess_only_block);
}
