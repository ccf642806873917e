/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points are processed in blocks. A thread quantises a block of points, then takes as many
 * centroids at a time as fit in the second-level cache and compares each panel of points with them.
 * Pairs that are not ruled out are listed, and decided when the panel has been compared with all of
 * these centroids.
 */
#include "kmeans/assign/quantised.h"

#include "kmeans/assign/assign.h"
#include "kmeans/assign/vectors.h"
#include "kmeans/points/memory.h"
#include "kmeans/points/real.h"

#include <errno.h>
#include <float.h>
#include <math.h>

enum {
    POINT_BYTES = 1 << 18,    /* of quantised points in a block */
    CENTROID_BYTES = 1 << 18, /* of centroids: fits a second-level cache with room to spare */
    BLOCKS_PER_THREAD = 4,    /* at least, so that threads finish at about the same time */
    PAIRS = 2048,             /* pairs that are listed before they are decided */
    TILE_POINTS = 32,         /* and TILE_CENTROIDS: upper bounds for all kernels */
    TILE_CENTROIDS = 16,
    STRIP = 48,           /* centroids whose products are made at a time */
    CENTROID_RANGE = 127, /* codes of centroids lie between -127 and 127 */
    CENTROID_OFFSET = 128
};

/* The constants of the bounds; see quantised.h. */
static const float slack = 0x1p-18F;          /* 64 u */
static const float distance_error = 0x1p-27F; /* 4 * 2^-53 / u */
static const float vanished = 0x1p-60F;       /* more than the norm of what may underflow */
static const float largest = 0x1p40F;         /* the largest deviation that is quantised */
static const float least_scale = 0x1p-60F;
static const float least_share = 0x1p-40F; /* the least scale, as a share of the largest |e| */

struct km_quantised {
    const km_kernel *kernel;
    const float *rows;
    size_t k, dim, groups, panels, panel_bytes;
    size_t cached;       /* panels that fit the cache together */
    unsigned char *data; /* panels of codes */
    float *mean;
    float reach;     /* the largest finite |e| */
    uint32_t *order; /* the centroids' numbers, sorted by |e|, so that those of a panel are alike */
    /* In this order, with those that are missing in the last panel. */
    float *squares, *scales, *norms, *rests;
    int32_t *bases;
    /* For each panel, the largest of its norms and rests. */
    float *panel_norms, *panel_rests;
};

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Returns what norms of DIM features are multiplied by to be upper bounds. */
static float norm_factor(size_t dim) {
    return 1 + ((float)dim + 16) * FLT_EPSILON;
}

/* --- Centroids --- */

static bool compute_mean(const float *rows, size_t k, size_t dim, float *mean) {
    double *sums = calloc(dim, sizeof *sums);
    if (!sums)
        return false;
    for (size_t j = 0; j < k; j++)
        for (size_t d = 0; d < dim; d++)
            sums[d] += (double)rows[j * dim + d];
    for (size_t d = 0; d < dim; d++)
        mean[d] = (float)(sums[d] / (double)k);
    free(sums);
    return true;
}

/* Returns the largest sum of absolute deviations over a lane of the row (kernel.h). */
static float largest_lane(const float *row, const float *mean, size_t dim) {
    float most = 0;
    for (size_t first = 0; first < dim; first += KM_LANE) {
        float sums[2] = {0};
        for (size_t d = first; d < first + KM_LANE && d < dim; d++)
            sums[d / 2 % 2] += fabsf(row[d] - mean[d]);
        most = fmaxf(most, fmaxf(sums[0], sums[1]));
    }
    return most;
}

/* Returns the scale of a centroid whose largest deviation is DEVIATION. */
static float centroid_scale(const km_quantised *this, const float *row, float deviation) {
    float scale = deviation / CENTROID_RANGE;
    /* Rounding adds at most 1/2 to each code; 0.1 is for the rounding of sum and scale. */
    if (this->kernel->lane_sum)
        scale = fmaxf(scale, largest_lane(row, this->mean, this->dim) /
                                 ((float)this->kernel->lane_sum - KM_LANE / 4 - 0.1F));
    return fmaxf(scale, least_scale);
}

static double norm2(const float *row, const float *mean, size_t dim) {
    double sum = 0;
    for (size_t d = 0; d < dim; d++) {
        double deviation = (double)row[d] - (double)mean[d];
        sum += deviation * deviation;
    }
    return sum;
}

/* Quantises the centroid at position J of the order to CODES. */
static void quantise_centroid(km_quantised *this, size_t j, uint8_t *codes) {
    const float *row = this->rows + this->order[j] * this->dim, factor = norm_factor(this->dim);
    float deviation = km_largest_deviation(row, this->mean, this->dim);
    if (!(deviation <= largest)) {
        memset(codes, CENTROID_OFFSET, this->dim);
        this->squares[j] = 0;
        this->scales[j] = 1;
        this->norms[j] = INFINITY;
        return;
    }
    float scale = centroid_scale(this, row, deviation);
    km_quantum sums = km_quantise(row, this->mean, this->dim, scale, CENTROID_OFFSET, codes);
    this->scales[j] = scale;
    this->norms[j] = sqrtf(this->squares[j]) * factor + vanished;
    this->rests[j] = sqrtf(sums.rests2) * factor + slack * this->norms[j] + vanished;
    this->bases[j] = sums.codes * (this->kernel->range + 1);
}

/* Quantises and packs the centroids of a panel. CODES has room for them. */
static void make_panel(km_quantised *this, size_t panel, uint8_t *codes) {
    const km_kernel *kernel = this->kernel;
    size_t first = panel * kernel->centroids, n = smaller(this->k - first, kernel->centroids);
    uint32_t norms[TILE_CENTROIDS]; /* unused */
    for (size_t j = 0; j < n; j++) {
        quantise_centroid(this, first + j, codes + j * this->dim);
        this->panel_norms[panel] = fmaxf(this->panel_norms[panel], this->norms[first + j]);
        this->panel_rests[panel] = fmaxf(this->panel_rests[panel], this->rests[first + j]);
    }
    kernel->pack_centroids(kernel, codes, n, this->dim, this->data + panel * this->panel_bytes,
                           norms);
}

typedef struct norm_key {
    float square;
    uint32_t number;
} norm_key;

static int compare_norms(const void *a, const void *b) {
    const norm_key *left = a, *right = b;
    if (left->square != right->square)
        return left->square < right->square ? -1 : 1;
    return left->number < right->number ? -1 : left->number > right->number;
}

/* Sets the order and squares. */
static bool sort_by_norm(km_quantised *this) {
    norm_key *keys = km_allocate(this->k, sizeof *keys);
    for (size_t j = 0; keys && j < this->k; j++) {
        const float *row = this->rows + j * this->dim;
        keys[j] = (norm_key){(float)norm2(row, this->mean, this->dim), (uint32_t)j};
    }
    if (!keys)
        return false;
    qsort(keys, this->k, sizeof *keys, compare_norms);
    for (size_t j = 0; j < this->k; j++) {
        this->order[j] = keys[j].number;
        this->squares[j] = keys[j].square;
    }
    free(keys);
    return true;
}

static int make_panels(km_quantised *this, int threads) {
    int error = 0;
#pragma omp parallel num_threads(threads) reduction(| : error)
    {
        uint8_t *codes = km_allocate(this->kernel->centroids, this->dim);
        error = codes ? 0 : ENOMEM;
#pragma omp for schedule(static)
        for (size_t panel = 0; panel < this->panels; panel++)
            if (codes)
                make_panel(this, panel, codes);
        free(codes);
    }
    for (size_t j = 0; j < this->k; j++)
        if (this->norms[j] < INFINITY)
            this->reach = fmaxf(this->reach, this->norms[j]);
    return error;
}

static void *allocate_zeros(size_t count, size_t bytes) {
    void *made = km_allocate(count, bytes);
    if (made)
        memset(made, 0, count * bytes);
    return made;
}

static bool allocate_centroids(km_quantised *this) {
    size_t rows = this->panels * this->kernel->centroids;
    this->data = km_allocate(this->panels, this->panel_bytes);
    this->mean = km_allocate(this->dim, sizeof *this->mean);
    this->order = km_allocate(this->k, sizeof *this->order);
    this->squares = allocate_zeros(rows, sizeof *this->squares);
    this->scales = allocate_zeros(rows, sizeof *this->scales);
    this->norms = allocate_zeros(rows, sizeof *this->norms);
    this->rests = allocate_zeros(rows, sizeof *this->rests);
    this->bases = allocate_zeros(rows, sizeof *this->bases);
    this->panel_norms = allocate_zeros(this->panels, sizeof *this->panel_norms);
    this->panel_rests = allocate_zeros(this->panels, sizeof *this->panel_rests);
    return this->data && this->mean && this->order && this->squares && this->scales &&
           this->norms && this->rests && this->bases && this->panel_norms && this->panel_rests;
}

int km_quantised_create(const float *rows, size_t k, size_t dim, const km_kernel *kernel,
                        int threads, km_quantised **centroids) {
    km_quantised *made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    kernel = kernel->quantised ? kernel->quantised : kernel;
    *made = (km_quantised){.kernel = kernel,
                           .rows = rows,
                           .k = k,
                           .dim = dim,
                           .groups = km_quotient_up(dim, kernel->group),
                           .panels = km_quotient_up(k, kernel->centroids)};
    made->panel_bytes = made->groups * kernel->group * kernel->element * kernel->centroids;
    made->cached = larger(CENTROID_BYTES / made->panel_bytes, 1);
    int error = ENOMEM;
    if (allocate_centroids(made) && compute_mean(rows, k, dim, made->mean) && sort_by_norm(made))
        error = make_panels(made, threads);
    if (error)
        km_quantised_free(made);
    else
        *centroids = made;
    return error;
}

void km_quantised_free(km_quantised *centroids) {
    if (!centroids)
        return;
    free(centroids->data);
    free(centroids->mean);
    free(centroids->order);
    free(centroids->squares);
    free(centroids->scales);
    free(centroids->norms);
    free(centroids->rests);
    free(centroids->bases);
    free(centroids->panel_norms);
    free(centroids->panel_rests);
    free(centroids);
}

/* --- Points --- */

/* A pair that has not been ruled out. */
typedef struct open_pair {
    uint32_t point; /* in its panel */
    uint32_t centroid;
    float low; /* a lower bound of h times its score */
} open_pair;

/* A thread's scratch memory: a block of points, and their search state. */
typedef struct workspace {
    size_t panel_bytes;
    unsigned char *data; /* panels of codes */
    uint8_t *codes;      /* the codes of a panel, row after row */
    uint32_t *corrections;
    /* For each point of the block, with those that are missing in its last panel. */
    const float **rows;
    float *halves, *code_norms, *code_rests, *slacks, *bounds;
    float *squares; /* |y|^2 */
    double *best;   /* the distance of nearest; or infinity */
    uint32_t *nearest;
    /* For a panel. */
    float lowest[TILE_POINTS];    /* the lowest score that was listed */
    uint32_t likely[TILE_POINTS]; /* its centroid */
    int32_t *products;
    km_estimate *estimates;
    open_pair *pairs;
    size_t count; /* of pairs */
} workspace;

static void workspace_free(workspace *space) {
    free(space->data);
    free(space->codes);
    free(space->corrections);
    free(space->rows);
    free(space->halves);
    free(space->code_norms);
    free(space->code_rests);
    free(space->slacks);
    free(space->bounds);
    free(space->squares);
    free(space->best);
    free(space->nearest);
    free(space->products);
    free(space->estimates);
    free(space->pairs);
}

/* Allocates scratch memory for POINTS points, a whole number of panels. */
static bool workspace_create(workspace *space, size_t points, const km_quantised *centroids) {
    const km_kernel *kernel = centroids->kernel;
    size_t point_bytes = centroids->groups * kernel->group * kernel->element;
    *space = (workspace){.panel_bytes = kernel->points * point_bytes,
                         .data = km_allocate(points, point_bytes),
                         .codes = km_allocate(kernel->points, centroids->dim),
                         .corrections = km_allocate(points, sizeof *space->corrections),
                         .rows = km_allocate(points, sizeof *space->rows),
                         .halves = km_allocate(points, sizeof *space->halves),
                         .code_norms = km_allocate(points, sizeof *space->code_norms),
                         .code_rests = km_allocate(points, sizeof *space->code_rests),
                         .slacks = km_allocate(points, sizeof *space->slacks),
                         .bounds = km_allocate(points, sizeof *space->bounds),
                         .squares = km_allocate(points, sizeof *space->squares),
                         .best = km_allocate(points, sizeof *space->best),
                         .nearest = km_allocate(points, sizeof *space->nearest),
                         .products = km_allocate(TILE_POINTS * STRIP, sizeof(int32_t)),
                         .estimates = km_allocate(TILE_POINTS * STRIP, sizeof *space->estimates),
                         .pairs = km_allocate(PAIRS + TILE_POINTS * STRIP, sizeof *space->pairs)};
    if (space->data && space->codes && space->corrections && space->rows && space->halves &&
        space->code_norms && space->code_rests && space->slacks && space->bounds &&
        space->squares && space->best && space->nearest && space->products && space->estimates &&
        space->pairs)
        return true;
    workspace_free(space);
    return false;
}

/* Quantises point I of the block to CODES. */
static void quantise_point(const km_quantised *centroids, const workspace *space, size_t i,
                           uint8_t *codes) {
    const size_t dim = centroids->dim;
    const int range = centroids->kernel->range;
    float deviation = km_largest_deviation(space->rows[i], centroids->mean, dim);
    if (!(deviation <= largest)) {
        memset(codes, range + 1, dim);
        space->halves[i] = 0.5F;
        space->code_norms[i] = 0;
        space->code_rests[i] = INFINITY;
        space->slacks[i] = 0;
        space->squares[i] = INFINITY;
        return;
    }
    float factor = norm_factor(dim), scale = fmaxf(deviation / (float)range, least_scale);
    scale = fmaxf(scale, least_share * centroids->reach);
    km_quantum sums = km_quantise(space->rows[i], centroids->mean, dim, scale, range + 1, codes);
    float rest = sqrtf(sums.rests2) * factor + vanished +
                 slack * (sqrtf(sums.deviations2) * factor + centroids->reach);
    space->halves[i] = 0.5F / scale;
    space->code_norms[i] = sqrtf(sums.codes2) * factor;
    space->code_rests[i] = rest / scale;
    space->slacks[i] = sums.deviations2 * (factor - 1) * distance_error * space->halves[i];
    space->squares[i] = sums.deviations2;
}

/* Sets the bound of point I to what its best distance implies. */
static void set_bound(const km_quantised *centroids, const workspace *space, size_t i) {
    double square = (double)space->squares[i], margin = (double)norm_factor(centroids->dim) - 1;
    double bound = (space->best[i] - square + square * margin) * (double)space->halves[i];
    float rounded = (float)(bound + fabs(bound) * (double)FLT_EPSILON);
    if (rounded < space->bounds[i])
        space->bounds[i] = rounded;
}

/* Compares point I with centroid J in double precision. */
static void compare_exactly(const km_quantised *centroids, const workspace *space, size_t i,
                            uint32_t j) {
    double distance =
        km_real_distance2(space->rows[i], centroids->rows + j * centroids->dim, centroids->dim);
    if (distance > space->best[i] || (distance == space->best[i] && j >= space->nearest[i]))
        return;
    space->best[i] = distance;
    space->nearest[i] = j;
    set_bound(centroids, space, i);
}

/* Quantises and packs the panel of N points that begins with point I of the block. */
static void prepare_panel(const km_quantised *centroids, const workspace *space, size_t i,
                          size_t n) {
    const km_kernel *kernel = centroids->kernel;
    for (size_t at = 0; at < n; at++)
        quantise_point(centroids, space, i + at, space->codes + at * centroids->dim);
    kernel->pack(space->codes, n, centroids->dim,
                 space->data + i / kernel->points * space->panel_bytes, space->corrections + i);
    for (size_t at = i + n; at < i + kernel->points; at++) {
        space->halves[at] = space->code_norms[at] = space->code_rests[at] = space->slacks[at] = 0;
        space->bounds[at] = -INFINITY;
    }
}

/* Prepares N points of the query, from number FIRST on. */
static void prepare_block(const km_query *query, size_t first, size_t n, const uint32_t *guess,
                          const km_quantised *centroids, const workspace *space) {
    const float *rows = (const float *)query->rows;
    size_t step = centroids->kernel->points;
    for (size_t i = 0; i < n; i++) {
        size_t number = query->which ? query->which[first + i] : first + i;
        space->rows[i] = rows + number * centroids->dim;
        space->best[i] = space->bounds[i] = INFINITY;
        space->nearest[i] = UINT32_MAX;
    }
    for (size_t i = 0; i < n; i += step)
        prepare_panel(centroids, space, i, smaller(n - i, step));
    for (size_t i = 0; guess && i < n; i++)
        if (guess[first + i] < centroids->k)
            compare_exactly(centroids, space, i, guess[first + i]);
}

/* Decides the listed pairs of the panel that begins with point I of the block. */
static void decide_pairs(const km_quantised *centroids, workspace *space, size_t i) {
    const size_t dim = centroids->dim;
    const double factor = 2 - (double)norm_factor(dim), underflow = (double)dim * 0x1p-149;
    for (size_t at = 0; at < centroids->kernel->points; at++) {
        if (space->lowest[at] < INFINITY && space->best[i + at] == INFINITY)
            compare_exactly(centroids, space, i + at, space->likely[at]);
        space->lowest[at] = INFINITY;
    }
    for (size_t l = 0; l < space->count; l++) {
        const open_pair *pair = &space->pairs[l];
        size_t point = i + pair->point;
        if (pair->low > space->bounds[point] || pair->centroid == space->nearest[point])
            continue;
        float near =
            km_near_distance2(space->rows[point], centroids->rows + pair->centroid * dim, dim);
        if (near == INFINITY || (double)near * factor - underflow <= space->best[point])
            compare_exactly(centroids, space, point, pair->centroid);
    }
    space->count = 0;
}

/* Lists N estimates; the first of their centroids has position FIRST. */
static void list_pairs(const km_quantised *centroids, size_t first, size_t n, workspace *space) {
    for (size_t l = 0; l < n; l++) {
        const km_estimate *found = &space->estimates[l];
        uint32_t i = found->point, j = centroids->order[first + found->centroid];
        space->pairs[space->count++] = (open_pair){i, j, found->low};
        if (found->score < space->lowest[i]) {
            space->lowest[i] = found->score;
            space->likely[i] = j;
        }
    }
}

/*
 * Describes the points from number I of the block on and the centroids of panels START to END - 1.
 */
static km_screen describe(const km_quantised *centroids, const workspace *space, size_t i,
                          size_t start, size_t end) {
    size_t step = centroids->kernel->centroids, first = start * step;
    return (km_screen){.points = centroids->kernel->points,
                       .count = smaller(centroids->k, end * step) - first,
                       .step = step,
                       .halves = space->halves + i,
                       .code_norms = space->code_norms + i,
                       .code_rests = space->code_rests + i,
                       .slacks = space->slacks + i,
                       .bounds = space->bounds + i,
                       .squares = centroids->squares + first,
                       .scales = centroids->scales + first,
                       .norms = centroids->norms + first,
                       .rests = centroids->rests + first,
                       .bases = centroids->bases + first,
                       .panel_norms = centroids->panel_norms + start,
                       .panel_rests = centroids->panel_rests + start};
}

/*
 * Compares the panel of points that begins with point I of the block with the panels of centroids
 * from START to END - 1.
 */
static void search_panels(const km_quantised *centroids, size_t start, size_t end, workspace *space,
                          size_t i) {
    const km_kernel *kernel = centroids->kernel;
    const unsigned char *points = space->data + i / kernel->points * space->panel_bytes;
    const size_t tile = kernel->points * kernel->centroids;
    for (size_t next; start < end; start = next) {
        next = smaller(start + STRIP / kernel->centroids, end);
        for (size_t panel = start; panel < next; panel++)
            kernel->multiply(points, centroids->data + panel * centroids->panel_bytes,
                             centroids->groups, space->products + (panel - start) * tile);
        const km_screen screen = describe(centroids, space, i, start, next);
        size_t found = km_screen_panels(&screen, space->products, space->estimates);
        list_pairs(centroids, start * kernel->centroids, found, space);
        if (space->count >= PAIRS)
            decide_pairs(centroids, space, i);
    }
    decide_pairs(centroids, space, i);
}

static void search_block(const km_quantised *centroids, size_t n, workspace *space) {
    for (size_t i = 0; i < TILE_POINTS; i++)
        space->lowest[i] = INFINITY;
    for (size_t start = 0; start < centroids->panels; start += centroids->cached) {
        size_t end = smaller(start + centroids->cached, centroids->panels);
        for (size_t i = 0; i < n; i += centroids->kernel->points)
            search_panels(centroids, start, end, space, i);
    }
}

/* Returns the number of points in a block, a whole number of panels. */
static size_t block_points(size_t n, int threads, const km_quantised *centroids) {
    const km_kernel *kernel = centroids->kernel;
    size_t panel_bytes = centroids->groups * kernel->group * kernel->element * kernel->points;
    size_t fair = km_quotient_up(n, (size_t)threads * BLOCKS_PER_THREAD);
    size_t panels = smaller(POINT_BYTES / panel_bytes, km_quotient_up(fair, kernel->points));
    return larger(panels, 1) * kernel->points;
}

int km_quantised_assign(const km_query *query, const km_quantised *centroids, int threads,
                        const uint32_t *guess, uint32_t *nearest, uint32_t *distance) {
    size_t size = block_points(query->n, threads, centroids);
    size_t blocks = km_quotient_up(query->n, size);
    threads = (int)larger(smaller((size_t)threads, blocks), 1);
    int error = 0;
#pragma omp parallel num_threads(threads) reduction(| : error)
    {
        workspace space;
        if (!workspace_create(&space, size, centroids))
            error = ENOMEM;
#pragma omp for schedule(dynamic)
        for (size_t block = 0; block < blocks; block++) {
            size_t first = block * size, n = smaller(query->n - first, size);
            if (error)
                continue;
            prepare_block(query, first, n, guess, centroids, &space);
            search_block(centroids, n, &space);
            memcpy(nearest + first, space.nearest, n * sizeof *nearest);
            for (size_t i = 0; distance && i < n; i++)
                distance[first + i] = km_real_bits(space.best[i]);
        }
        if (!error)
            workspace_free(&space);
    }
    return error;
}
