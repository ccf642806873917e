#include "kmeans/assign/sieve.h"

#include "kmeans/points/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum {
    CACHE_LINE = 64,
    OUT_OF_REACH = 1 << 14, /* farther than any two sketches are from each other */
};

struct km_sieve {
    const km_kernel *kernel;
    const km_sketch *sketch;
    const uint8_t *rows;
    const uint32_t *norms; /* of the rows */
    size_t k, panels, block;
    size_t groups, panel_bytes; /* of sketches */
    unsigned char *data;
    uint32_t *sketch_norms;
    int32_t *halves; /* of these */
    float *slacks;   /* the largest e in each block of panels */
    unsigned char *axes;
    size_t axes_groups, axes_panels, axes_panel_bytes;
};

static const uint8_t *row(const km_sieve *sieve, size_t centroid) {
    return sieve->rows + centroid * sieve->sketch->dim;
}

static size_t panel_bytes(const km_kernel *kernel, size_t groups, size_t rows) {
    return groups * kernel->group * kernel->element * rows;
}

/* Packs the axes as if they were centroids, which their products with a panel of points are of. */
static bool pack_axes(km_sieve *sieve) {
    const km_kernel *kernel = sieve->kernel;
    size_t step = kernel->centroids, dim = sieve->sketch->dim;
    uint32_t norms[KM_TILE_CENTROIDS]; /* which nobody needs */
    sieve->axes_groups = km_quotient_up(dim, kernel->group);
    sieve->axes_panels = km_quotient_up(KM_SKETCH, step);
    sieve->axes_panel_bytes = panel_bytes(kernel, sieve->axes_groups, step);
    sieve->axes = km_allocate(sieve->axes_panels, sieve->axes_panel_bytes);
    for (size_t j = 0; sieve->axes && j < KM_SKETCH; j += step)
        kernel->pack_centroids(kernel, sieve->sketch->axes + j * dim,
                               KM_SKETCH - j < step ? KM_SKETCH - j : step, dim,
                               sieve->axes + j / step * sieve->axes_panel_bytes, norms);
    return sieve->axes;
}

/* The sketches, row after row, of a panel of points. */
static void sketch_panel(const km_sieve *sieve, const void *panel, uint8_t *bytes, float *errors) {
    const km_kernel *kernel = sieve->kernel;
    size_t products = kernel->points * kernel->centroids;
    int32_t sums[(KM_SKETCH + KM_TILE_CENTROIDS) * KM_TILE_POINTS];
    for (size_t i = 0; i < sieve->axes_panels; i++)
        kernel->multiply(panel, sieve->axes + i * sieve->axes_panel_bytes, sieve->axes_groups,
                         sums + i * products);
    km_sketch_round(sieve->sketch, sums, kernel->points, bytes, errors);
}

/* What a thread makes the sketches of centroids in. */
typedef struct press {
    unsigned char *panel; /* the rows of a panel of points, packed */
    uint8_t *bytes;       /* the block's sketches, and room for a panel's at their end */
    float *errors;        /* of a panel */
} press;

static void press_free(press *space) {
    free(space->panel);
    free(space->bytes);
    free(space->errors);
}

static bool press_create(press *space, const km_sieve *sieve) {
    const km_kernel *kernel = sieve->kernel;
    size_t rows = sieve->block * kernel->centroids;
    space->panel = km_allocate(1, panel_bytes(kernel, sieve->axes_groups, kernel->points));
    space->bytes = km_allocate(rows + kernel->points, KM_SKETCH);
    space->errors = km_allocate(kernel->points, sizeof *space->errors);
    if (space->panel && space->bytes && space->errors)
        return true;
    press_free(space);
    return false;
}

/* The sketches of a block of centroids, which are N from number FIRST on. */
static void sketch_block(km_sieve *sieve, press *space, size_t first, size_t n) {
    const km_kernel *kernel = sieve->kernel;
    size_t dim = sieve->sketch->dim, step = kernel->centroids;
    uint32_t corrections[KM_TILE_POINTS]; /* which nobody needs */
    float slack = 0;
    for (size_t i = 0; i < n; i += kernel->points) {
        size_t here = n - i < kernel->points ? n - i : kernel->points;
        kernel->pack(row(sieve, first + i), here, dim, space->panel, corrections);
        sketch_panel(sieve, space->panel, space->bytes + i * KM_SKETCH, space->errors);
        for (size_t l = 0; l < here; l++)
            slack = fmaxf(slack, space->errors[l]);
    }
    sieve->slacks[first / step / sieve->block] = slack;
    for (size_t j = 0; j < n; j += step)
        kernel->pack_centroids(kernel, space->bytes + j * KM_SKETCH, n - j < step ? n - j : step,
                               KM_SKETCH, sieve->data + (first + j) / step * sieve->panel_bytes,
                               sieve->sketch_norms + first + j);
    /* One that is missing has the greatest norm. */
    for (size_t j = 0; j < km_quotient_up(n, step) * step; j++)
        sieve->halves[first + j] = (int32_t)(sieve->sketch_norms[first + j] / 2);
}

static int sketch_all(km_sieve *sieve, int threads) {
    size_t rows = sieve->block * sieve->kernel->centroids;
    int error = 0;
#pragma omp parallel num_threads(threads) reduction(| : error)
    {
        press space;
        if (!press_create(&space, sieve))
            error = ENOMEM;
#pragma omp for schedule(static)
        for (size_t first = 0; first < sieve->k; first += rows)
            if (!error)
                sketch_block(sieve, &space, first,
                             sieve->k - first < rows ? sieve->k - first : rows);
        if (!error)
            press_free(&space);
    }
    return error;
}

int km_sieve_create(const uint8_t *rows, size_t k, const km_kernel *kernel, const km_sketch *sketch,
                    const uint32_t *norms, size_t block, int threads, km_sieve **sieve) {
    km_sieve *made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    *made = (km_sieve){.kernel = kernel,
                       .sketch = sketch,
                       .rows = rows,
                       .norms = norms,
                       .k = k,
                       .panels = km_quotient_up(k, kernel->centroids),
                       .block = block,
                       .groups = km_quotient_up(KM_SKETCH, kernel->group)};
    made->panel_bytes = panel_bytes(kernel, made->groups, kernel->centroids);
    made->data = km_allocate(made->panels, made->panel_bytes);
    made->sketch_norms = km_allocate(made->panels, kernel->centroids * sizeof *made->sketch_norms);
    made->halves = km_allocate(made->panels, kernel->centroids * sizeof *made->halves);
    made->slacks = km_allocate(km_quotient_up(made->panels, block), sizeof *made->slacks);
    int error = made->data && made->sketch_norms && made->halves && made->slacks && pack_axes(made)
                    ? sketch_all(made, threads)
                    : ENOMEM;
    if (error)
        km_sieve_free(made);
    else
        *sieve = made;
    return error;
}

void km_sieve_free(km_sieve *sieve) {
    if (!sieve)
        return;
    free(sieve->data);
    free(sieve->sketch_norms);
    free(sieve->halves);
    free(sieve->slacks);
    free(sieve->axes);
    free(sieve);
}

/* Sketches farther than this are of rows that are no better than the best (sketch.h). */
static float reach(const km_sieve *sieve, const km_sifted *points, size_t i) {
    if (points->best[i] == KM_NO_SCORE)
        return OUT_OF_REACH;
    float distance2 = (float)(points->best[i] + points->corrections[i]);
    float distance = sieve->sketch->stretch * sqrtf(distance2) * 1.0001F;
    return fminf(distance + points->errors[i], OUT_OF_REACH);
}

/*
 * The least x.c - |c|^2 / 2, for a sketch x and those c, whose e is at most SLACK, that are in
 * reach: |x - c|^2 = |c|^2 - 2 x.c + the correction of x. A little less, for the sake of rounding.
 */
static int32_t floor_of(const km_sifted *points, size_t i, float slack) {
    float far = points->reaches[i] + slack;
    return (int32_t)(((float)(int32_t)points->sketch_corrections[i] - far * far) / 2) - 4;
}

void km_sieve_take(const km_sieve *sieve, const void *panel, size_t n, const km_sifted *points) {
    uint8_t bytes[KM_TILE_POINTS * KM_SKETCH];
    sketch_panel(sieve, panel, bytes, points->errors);
    sieve->kernel->pack(bytes, n, KM_SKETCH, points->sketches, points->sketch_corrections);
}

void km_sieve_sweep(const km_sieve *sieve, size_t start, size_t end, const km_sifted *points) {
    const km_kernel *kernel = sieve->kernel;
    for (size_t panel = start; panel < end; panel++) {
        size_t first = panel * kernel->centroids;
        kernel->tile(points->sketches, points->sketch_corrections,
                     sieve->data + panel * sieve->panel_bytes, sieve->sketch_norms + first,
                     sieve->groups, (uint32_t)first, points->best, points->nearest, NULL);
    }
}

void km_sieve_guess(const km_sieve *sieve, const uint32_t *guess, size_t n,
                    const km_sifted *points) {
    for (size_t i = 0; i < n; i++) {
        km_pair *pair = points->room->pairs;
        int32_t *product = points->room->products;
        points->best[i] = KM_NO_SCORE;
        if (guess[i] < sieve->k) {
            *pair = (km_pair){(uint16_t)i, 0};
            sieve->kernel->multiply_pairs(points->rows, row(sieve, guess[i]), sieve->sketch->dim,
                                          pair, 1, product);
            points->best[i] = sieve->norms[guess[i]] - 2 * (uint32_t)*product + 1;
        }
        points->reaches[i] = reach(sieve, points, i);
    }
}

/* Compares N pairs, of centroids from FIRST on, in full. A better best raises its floor. */
static void compare(const km_sieve *sieve, size_t n, size_t first, const km_sifted *points,
                    float slack, int32_t *floors) {
    const km_pair *pairs = points->room->pairs;
    int32_t *products = points->room->products;
    sieve->kernel->multiply_pairs(points->rows, row(sieve, first), sieve->sketch->dim, pairs, n,
                                  products);
    for (size_t l = 0; l < n; l++) {
        size_t i = pairs[l].point, j = first + pairs[l].centroid;
        uint32_t score = sieve->norms[j] - 2 * (uint32_t)products[l];
        if (score >= points->best[i])
            continue;
        points->best[i] = score;
        points->nearest[i] = (uint32_t)j;
        points->reaches[i] = reach(sieve, points, i);
        floors[i] = floor_of(points, i, slack);
    }
}

size_t km_sieve_sift(const km_sieve *sieve, size_t start, size_t end, size_t n, size_t next,
                     const km_sifted *points) {
    const km_kernel *kernel = sieve->kernel;
    float slack = sieve->slacks[start / sieve->block];
    int32_t floors[KM_TILE_POINTS];
    size_t compared = 0, dim = sieve->sketch->dim, fetched = n * dim,
           share = km_quotient_up(next * dim, end - start);
    for (size_t i = 0; i < kernel->points; i++)
        floors[i] = i < n ? floor_of(points, i, slack) : INT32_MAX;
    for (size_t panel = start; panel < end; panel++) {
        size_t first = panel * kernel->centroids, wanted = fetched + share;
        size_t found =
            kernel->sift(points->sketches, sieve->data + panel * sieve->panel_bytes,
                         sieve->halves + first, sieve->groups, floors, points->room->pairs);
        if (found)
            compare(sieve, found, first, points, slack, floors);
        compared += found;
        for (; fetched < wanted; fetched += CACHE_LINE)
            __builtin_prefetch(points->rows + fetched);
    }
    return compared;
}

void km_sieve_fetch(const km_sieve *sieve, size_t start, size_t part, size_t parts) {
    size_t first = start * sieve->kernel->centroids, n = sieve->block * sieve->kernel->centroids;
    if (first >= sieve->k)
        return;
    n = sieve->k - first < n ? sieve->k - first : n;
    const uint8_t *end = row(sieve, first + n * (part + 1) / parts);
    for (const uint8_t *line = row(sieve, first + n * part / parts); line < end; line += CACHE_LINE)
        __builtin_prefetch(line, 0, 2);
}
