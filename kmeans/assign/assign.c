/*
 * Points go through in blocks: a thread packs one, then takes the centroids a cacheful at a time,
 * and for each panel of points in the block runs over those. So a panel of points stays in the
 * first cache and the centroids in the second, and from memory the centroids come once per block of
 * points, seldom enough for the arithmetic to set the pace.
 *
 * With a sieve, most centroids are left out, by how near to a point one is that has been guessed;
 * where it leaves too many, points are compared with all of them for a while.
 */
#include "kmeans/assign/assign.h"

#include "kmeans/assign/sieve.h"
#include "kmeans/points/fine.h"
#include "kmeans/points/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    CACHE_LINE = 64,
    POINT_BYTES = 1 << 20,    /* of a block of packed points */
    CENTROID_BYTES = 1 << 18, /* of centroids that a second-level cache holds with room to spare */
    BLOCKS_PER_THREAD = 4,    /* at least, so that threads end at about the same time */
    GUESSED = 8,              /* of so many centroids one is looked at for a first guess */
    TRIED = 1 << 16,          /* pairs that a sieve is judged by, at least: it is worthwhile ... */
    WORTHWHILE = 8,           /* ... when it leaves one in so many, or fewer */
};

struct km_centroids {
    const km_kernel *kernel;
    size_t k, dim;
    size_t groups;
    size_t panels;
    size_t panel_bytes;
    size_t cached; /* panels that are gone through at once */
    unsigned char *data;
    uint32_t *norms;
    km_sieve *sieve;   /* or NULL */
    km_fine *fine;     /* NULL where centroids are bytes */
    km_sieve *rounded; /* of fine ones, without a sketch */
};

/* What a thread works in: a block of packed points, and their best centroids so far. */
typedef struct workspace {
    size_t points;
    size_t panel_bytes;
    unsigned char *data;
    uint32_t *corrections;
    uint32_t *best;
    uint32_t *nearest;
    uint64_t *fine_best;     /* only where centroids are fine */
    void *scratch;           /* of a tile */
    km_tile_room *room;      /* only with a sieve */
    size_t sketch_bytes;     /* of a point */
    unsigned char *sketches; /* from here on only with a sketch */
    uint32_t *sketch_corrections;
    float *errors;
    bool packed;   /* the whole block; else sketches were kept, and nobody has needed it yet */
    size_t resume; /* the panel from which on the sieve is used */
    uint64_t pairs, compared; /* of points and centroids that went through it, and were left */
} workspace;

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
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
    made->k = k;
    made->dim = dim;
    made->groups = km_quotient_up(dim, kernel->group);
    made->panels = km_quotient_up(k, kernel->centroids);
    made->panel_bytes = made->groups * kernel->group * kernel->element * kernel->centroids;
    made->cached = larger(CENTROID_BYTES / made->panel_bytes, 1);
    made->data = km_allocate(made->panels, made->panel_bytes);
    made->norms = km_allocate(made->panels, kernel->centroids * sizeof *made->norms);
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

/* What a sieve needs to know of centroids whose ROWS are these. */
static km_packed describe(const km_centroids *centroids, const uint8_t *rows) {
    return (km_packed){.kernel = centroids->kernel,
                       .rows = rows,
                       .k = centroids->k,
                       .dim = centroids->dim,
                       .data = centroids->data,
                       .norms = centroids->norms,
                       .block = centroids->cached,
                       .fine = centroids->fine};
}

int km_centroids_refine(km_centroids *centroids, const uint8_t *planes, int threads) {
    const km_planes of = {planes, centroids->k, centroids->dim};
    if (centroids->kernel->real || centroids->fine || centroids->sieve ||
        centroids->dim > KM_FINE_MAX_DIM || threads < 1)
        return EINVAL;
    int error = km_fine_create(&of, threads, &centroids->fine);
    const km_packed packed = describe(centroids, planes);
    return error ? error : km_sieve_create(&packed, NULL, threads, &centroids->rounded);
}

int km_centroids_sieve(km_centroids *centroids, const uint8_t *rows, const km_sketch *sketch,
                       int threads) {
    if (centroids->kernel->real || sketch->dim != centroids->dim || threads < 1)
        return EINVAL;
    km_sieve_free(centroids->sieve);
    centroids->sieve = NULL;
    const km_packed packed = describe(centroids, rows);
    return km_sieve_create(&packed, sketch, threads, &centroids->sieve);
}

void km_centroids_free(km_centroids *centroids) {
    if (!centroids)
        return;
    km_sieve_free(centroids->sieve);
    km_sieve_free(centroids->rounded);
    km_fine_free(centroids->fine);
    free(centroids->data);
    free(centroids->norms);
    free(centroids);
}

static void workspace_free(workspace *space) {
    free(space->data);
    free(space->corrections);
    free(space->best);
    free(space->nearest);
    free(space->fine_best);
    free(space->scratch);
    free(space->room);
    free(space->sketches);
    free(space->sketch_corrections);
    free(space->errors);
}

/* What fine centroids and sieves need besides. */
static bool add_rooms(workspace *space, bool fine, bool sketches) {
    if (fine && !(space->fine_best = km_allocate(space->points, sizeof *space->fine_best)))
        return false;
    if ((fine || sketches) && !(space->room = km_allocate(1, sizeof *space->room)))
        return false;
    if (!sketches)
        return true;
    space->sketches = km_allocate(space->points, space->sketch_bytes);
    space->sketch_corrections = km_allocate(space->points, sizeof *space->sketch_corrections);
    space->errors = km_allocate(space->points, sizeof *space->errors);
    return space->sketches && space->sketch_corrections && space->errors;
}

/* Room for POINTS points, a whole number of panels; false when memory is short. */
static bool workspace_create(workspace *space, size_t points, const km_centroids *centroids) {
    const km_kernel *kernel = centroids->kernel;
    size_t point_bytes = centroids->groups * kernel->group * kernel->element;
    *space = (workspace){.points = points,
                         .panel_bytes = kernel->points * point_bytes,
                         .sketch_bytes = KM_SKETCH * kernel->element};
    space->data = km_allocate(points, point_bytes);
    space->corrections = km_allocate(points, sizeof *space->corrections);
    space->best = km_allocate(points, sizeof *space->best);
    space->nearest = km_allocate(points, sizeof *space->nearest);
    space->scratch = km_allocate(kernel->scratch + 1, 1);
    if (space->data && space->corrections && space->best && space->nearest && space->scratch &&
        add_rooms(space, centroids->fine, centroids->sieve))
        return true;
    workspace_free(space);
    return false;
}

/* How many points make a block, when THREADS threads share N points: a whole number of panels. */
static size_t block_points(size_t n, int threads, const km_centroids *centroids) {
    const km_kernel *kernel = centroids->kernel;
    size_t panel_bytes = centroids->groups * kernel->group * kernel->element * kernel->points;
    size_t fair = km_quotient_up(n, (size_t)threads * BLOCKS_PER_THREAD);
    size_t panels = smaller(POINT_BYTES / panel_bytes, km_quotient_up(fair, kernel->points));
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
    size_t share = km_quotient_up(next_bytes, end - start), fetched = 0;
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

/* The panel of points that begins with number I, for SIEVE; ROWS are the block's. */
static km_sifted panel_of(const km_sieve *sieve, const uint8_t *rows, const km_centroids *centroids,
                          const workspace *space, size_t i) {
    km_sifted panel = {.rows = rows + i * row_bytes(centroids),
                       .corrections = space->corrections + i,
                       .best = space->best + i,
                       .nearest = space->nearest + i,
                       .fine_best = space->fine_best ? space->fine_best + i : NULL,
                       .sketches = space->data + i / centroids->kernel->points * space->panel_bytes,
                       .sketch_corrections = space->corrections + i,
                       .room = space->room};
    if (sieve == centroids->rounded)
        return panel;
    panel.sketches = space->sketches + i * space->sketch_bytes;
    panel.sketch_corrections = space->sketch_corrections + i;
    panel.errors = space->errors + i;
    return panel;
}

/*
 * The same as sweep for N points in the panel, by the sieve. Where it leaves too many pairs, it is
 * tried anew after twice as many centroids, for the nearest of those is nearer.
 */
static void sift(const km_centroids *centroids, size_t start, size_t end, workspace *space,
                 const uint8_t *rows, size_t i, size_t n, size_t next) {
    km_sifted points = panel_of(centroids->sieve, rows, centroids, space, i);
    space->compared += km_sieve_sift(centroids->sieve, start, end, n, next, &points);
    space->pairs += (uint64_t)n * (end - start) * centroids->kernel->centroids;
    if (space->pairs < TRIED || space->compared * WORTHWHILE <= space->pairs)
        return;
    space->resume = 2 * end;
    space->pairs = space->compared = 0;
}

/* The same without a sketch, for centroids that are fine or not. */
static void sift_all(const km_centroids *centroids, size_t start, size_t end,
                     const workspace *space, const uint8_t *rows, size_t i, size_t n, size_t next) {
    if (!centroids->fine) {
        sweep(centroids, start, end, space, i, NULL, 0);
        return;
    }
    km_sifted points = panel_of(centroids->rounded, rows, centroids, space, i);
    km_sieve_sift(centroids->rounded, start, end, n, next, &points);
}

static void pack(const uint8_t *rows, size_t i, size_t n, const km_centroids *centroids,
                 const workspace *space) {
    const km_kernel *kernel = centroids->kernel;
    kernel->pack(rows + i * row_bytes(centroids), n, centroids->dim,
                 space->data + i / kernel->points * space->panel_bytes, space->corrections + i);
}

static void pack_all(const uint8_t *rows, size_t n, const km_centroids *centroids,
                     workspace *space) {
    size_t step = centroids->kernel->points;
    for (size_t i = 0; i < n; i += step)
        pack(rows, i, smaller(n - i, step), centroids, space);
    space->packed = true;
}

/* Takes the sketches of the panel of N points that begins with number I from KEPT, or makes them.
 */
static void take(const uint8_t *rows, size_t i, size_t n, const km_centroids *centroids,
                 const km_sketches *kept, workspace *space) {
    const km_sieve *sieve = centroids->sieve;
    km_sifted panel = panel_of(sieve, rows, centroids, space, i);
    km_sketches here = {.bytes = NULL};
    if (kept)
        here = km_sketches_from(kept, i);
    if (kept && km_sieve_recall(sieve, &here, n, &panel)) {
        space->packed = false;
        return;
    }
    pack(rows, i, n, centroids, space);
    km_sieve_take(sieve, space->data + i / centroids->kernel->points * space->panel_bytes, n,
                  kept ? &here : NULL, &panel);
}

/* Finds the best centroids of N points, which fit in SPACE, by comparing them with all. */
static void search_all(const uint8_t *points, size_t n, const km_centroids *centroids,
                       const workspace *space) {
    size_t step = centroids->kernel->points, bytes = row_bytes(centroids);
    size_t end = smaller(centroids->cached, centroids->panels);
    for (size_t i = 0; i < n; i += step) {
        size_t here = smaller(n - i, step), next = smaller(n - i - here, step);
        pack(points, i, here, centroids, space);
        sweep(centroids, 0, end, space, i, points + (i + here) * bytes, next * bytes);
    }
    for (size_t start = end; start < centroids->panels; start = end) {
        end = smaller(start + centroids->cached, centroids->panels);
        for (size_t i = 0; i < n; i += step)
            sweep(centroids, start, end, space, i, NULL, 0);
    }
}

/* For want of a better guess: the centroids whose sketches are nearest, among some of them. */
static void guess_all(const km_sieve *sieve, const uint8_t *points, size_t n,
                      const km_centroids *centroids, const workspace *space) {
    size_t end, some = km_quotient_up(centroids->panels, GUESSED);
    for (size_t start = 0; start < some; start = end) {
        end = smaller(start + centroids->cached, some);
        for (size_t i = 0; i < n; i += centroids->kernel->points) {
            km_sifted panel = panel_of(sieve, points, centroids, space, i);
            km_sieve_sweep(sieve, start, end, &panel);
        }
    }
}

/* The same as search_all by a sieve. */
static void search_sieve(const uint8_t *points, size_t n, const km_centroids *centroids,
                         const uint32_t *guess, const km_sketches *kept, workspace *space) {
    const km_sieve *sieve = centroids->sieve ? centroids->sieve : centroids->rounded;
    size_t end, step = centroids->kernel->points;
    space->packed = true;
    for (size_t i = 0; i < n && centroids->sieve; i += step)
        take(points, i, smaller(n - i, step), centroids, kept, space);
    if (!centroids->sieve)
        pack_all(points, n, centroids, space);
    if (!guess)
        guess_all(sieve, points, n, centroids, space);
    for (size_t i = 0; i < n; i += step) {
        km_sifted panel = panel_of(sieve, points, centroids, space, i);
        km_sieve_guess(sieve, (guess ? guess : space->nearest) + i, smaller(n - i, step), &panel);
    }
    space->resume = space->pairs = space->compared = 0;
    for (size_t start = 0; start < centroids->panels; start = end) {
        end = smaller(start + centroids->cached, centroids->panels);
        for (size_t i = 0; i < n; i += step) {
            size_t here = smaller(n - i, step), next = smaller(n - i - here, step);
            bool by_sketch = centroids->sieve && start >= space->resume;
            if (!by_sketch && !space->packed)
                pack_all(points, n, centroids, space);
            km_sieve_fetch(sieve, end, i / step, km_quotient_up(n, step));
            if (by_sketch)
                sift(centroids, start, end, space, points, i, here, next);
            else
                sift_all(centroids, start, end, space, points, i, here, next);
        }
    }
}

/* The distances of N points to the nearest centroids that search found. */
static void measure(size_t n, const km_centroids *centroids, const workspace *space,
                    uint32_t *distance) {
    bool real = centroids->kernel->real; /* whose best are distances already */
    for (size_t i = 0; i < n; i++)
        distance[i] = centroids->fine ? km_fine_bits(space->fine_best[i])
                                      : space->best[i] + (real ? 0 : space->corrections[i]);
}

static void assign_block(const uint8_t *points, size_t n, const km_centroids *centroids,
                         workspace *space, const uint32_t *guess, const km_sketches *kept,
                         uint32_t *nearest, uint32_t *distance) {
    for (size_t i = 0; i < space->points; i++)
        space->best[i] = KM_NO_SCORE;
    if (centroids->sieve || centroids->fine)
        search_sieve(points, n, centroids, guess, kept, space);
    else
        search_all(points, n, centroids, space);
    memcpy(nearest, space->nearest, n * sizeof *nearest);
    if (distance)
        measure(n, centroids, space, distance);
}

int km_assign(const uint8_t *points, size_t n, size_t dim, const km_centroids *centroids,
              int threads, uint32_t *nearest, uint32_t *distance) {
    return km_assign_again(points, n, dim, centroids, threads, NULL, NULL, nearest, distance);
}

int km_assign_again(const uint8_t *points, size_t n, size_t dim, const km_centroids *centroids,
                    int threads, const uint32_t *guess, const km_sketches *kept, uint32_t *nearest,
                    uint32_t *distance) {
    if (threads < 1 || dim != centroids->dim)
        return EINVAL;
    size_t size = block_points(n, threads, centroids);
    size_t blocks = km_quotient_up(n, size);
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
            km_sketches here = {.bytes = NULL};
            if (kept)
                here = km_sketches_from(kept, first);
            if (!error)
                assign_block(points + first * row_bytes(centroids), smaller(n - first, size),
                             centroids, &space, guess ? guess + first : NULL, kept ? &here : NULL,
                             nearest + first, distance ? distance + first : NULL);
        }
        if (!error)
            workspace_free(&space);
    }
    return error;
}
