/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points are processed in blocks. A thread quantises a block of points, then takes as many
 * centroids at a time as fit in the second-level cache and compares each panel of points with them.
 * Pairs that are not ruled out are listed, and decided when the panel has been compared with all of
 * these centroids.
 *
 * With bounds of groups (group_bounds.h), those points of a block that can't leave out a group are
 * gathered, and packed for its panels. Then all points are compared with the other centroids.
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

/* The number at positions without a centroid, which fill up panels. */
static const uint32_t nothing = UINT32_MAX;

struct km_quantised {
    const km_kernel *kernel;
    const float *rows;
    size_t k, dim, groups, panels, panel_bytes;
    size_t cached;           /* panels that fit the cache together */
    km_group_bounds *bounds; /* or NULL */
    size_t *starts;          /* the first panel of each group whose bounds are used, and, last, that
                                of the centroids that are compared with all points */
    unsigned char *data;     /* panels of codes */
    float *mean;
    float reach;         /* the largest finite |e| */
    uint32_t *positions; /* of the centroids */
    /*
     * The centroids' numbers, or nothing: by group if there are bounds, else and within a group
     * sorted by |e|, so that those of a panel are alike. What follows is in this order.
     */
    uint32_t *order;
    float *squares, *scales, *norms, *rests;
    int32_t *bases;
    uint32_t *ends;  /* of the segments (vectors.h) */
    uint32_t *group; /* of the centroid there; 0 without bounds */
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

static void *allocate_zeros(size_t count, size_t bytes) {
    void *made = km_allocate(count, bytes);
    if (made)
        memset(made, 0, count * bytes);
    return made;
}

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
    if (this->order[j] == nothing) {
        memset(codes, CENTROID_OFFSET, this->dim);
        this->squares[j] = NAN; /* no comparison is true */
        return;
    }
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
    size_t first = panel * kernel->centroids, n = kernel->centroids;
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

/* Returns the centroids sorted by |e|; or NULL if memory is short. The caller frees them. */
static norm_key *sort_by_norm(const km_quantised *this) {
    norm_key *keys = km_allocate(this->k, sizeof *keys);
    for (size_t j = 0; keys && j < this->k; j++) {
        const float *row = this->rows + j * this->dim;
        keys[j] = (norm_key){(float)norm2(row, this->mean, this->dim), (uint32_t)j};
    }
    if (keys)
        qsort(keys, this->k, sizeof *keys, compare_norms);
    return keys;
}

/*
 * Returns the part of the order to which a centroid belongs: its group, if that can be left out;
 * else one of as many parts for groups that are compared as a whole; else one for those that moved.
 */
static size_t part_of(const km_group_bounds *bounds, uint32_t centroid) {
    if (!bounds)
        return 0;
    size_t group = bounds->group[centroid];
    return group + bounds->groups * (bounds->whole[group]      ? 1
                                     : bounds->moved[centroid] ? 2
                                                               : (size_t)0);
}

static size_t count_parts(const km_group_bounds *bounds) {
    return bounds ? 3 * bounds->groups : 1;
}

/*
 * Sets STARTS to the position at which each part begins: in a new panel, unless the part and the
 * one before have centroids that moved. The last number is the end. There are COUNTS centroids.
 */
static void place_parts(const km_quantised *this, const size_t *counts, size_t *starts) {
    size_t parts = count_parts(this->bounds), position = 0, step = this->kernel->centroids;
    for (size_t part = 0; part < parts; part++) {
        if (!this->bounds || part <= 2 * this->bounds->groups)
            position = km_quotient_up(position, step) * step;
        starts[part] = position;
        position += counts[part];
    }
    starts[parts] = position;
}

/* Sets the segments of the part that has positions FROM to TO - 1. */
static void set_segments(km_quantised *this, size_t from, size_t to, uint32_t group) {
    for (size_t j = from; j < to; j++) {
        size_t end = (j / this->kernel->centroids + 1) * this->kernel->centroids;
        this->ends[j] = (uint32_t)smaller(end, to);
        this->group[j] = group;
    }
}

static bool allocate_positions(km_quantised *this, size_t positions) {
    this->panels = km_quotient_up(positions, this->kernel->centroids);
    size_t rows = this->panels * this->kernel->centroids;
    this->data = km_allocate(this->panels, this->panel_bytes);
    this->order = km_allocate(rows, sizeof *this->order);
    this->squares = allocate_zeros(rows, sizeof *this->squares);
    this->scales = allocate_zeros(rows, sizeof *this->scales);
    this->norms = allocate_zeros(rows, sizeof *this->norms);
    this->rests = allocate_zeros(rows, sizeof *this->rests);
    this->bases = allocate_zeros(rows, sizeof *this->bases);
    this->ends = km_allocate(rows, sizeof *this->ends);
    this->group = allocate_zeros(rows, sizeof *this->group);
    this->panel_norms = allocate_zeros(this->panels, sizeof *this->panel_norms);
    this->panel_rests = allocate_zeros(this->panels, sizeof *this->panel_rests);
    if (this->order)
        memset(this->order, 0xff, rows * sizeof *this->order);
    return this->data && this->order && this->squares && this->scales && this->norms &&
           this->rests && this->bases && this->ends && this->group && this->panel_norms &&
           this->panel_rests;
}

/* Arranges the centroids of KEYS. COUNTS and STARTS have room for all parts and one more. */
static bool arrange(km_quantised *this, const norm_key *keys, size_t *counts, size_t *starts) {
    const size_t parts = count_parts(this->bounds), step = this->kernel->centroids;
    for (size_t j = 0; j < this->k; j++)
        counts[part_of(this->bounds, keys[j].number)]++;
    place_parts(this, counts, starts);
    if (!allocate_positions(this, starts[parts]))
        return false;
    set_segments(this, 0, this->panels * step, 0);
    for (size_t part = 0; part < parts; part++) {
        size_t group = this->bounds ? part % this->bounds->groups : 0;
        /* Up to the next part, with positions that have no centroid. */
        set_segments(this, starts[part], part + 1 < parts ? starts[part + 1] : this->panels * step,
                     (uint32_t)group);
    }
    for (size_t group = 0; this->bounds && group <= this->bounds->groups; group++)
        this->starts[group] = starts[group] / step;
    for (size_t j = 0; j < this->k; j++) {
        size_t at = starts[part_of(this->bounds, keys[j].number)]++;
        this->order[at] = keys[j].number;
        this->squares[at] = keys[j].square;
        this->positions[keys[j].number] = (uint32_t)at;
    }
    return true;
}

/* Sets the order of the centroids and their squares. */
static bool arrange_centroids(km_quantised *this) {
    const size_t parts = count_parts(this->bounds);
    norm_key *keys = sort_by_norm(this);
    size_t *counts = allocate_zeros(parts, sizeof *counts),
           *starts = allocate_zeros(parts + 1, sizeof *starts);
    bool good = keys && counts && starts;
    if (good && this->bounds) {
        for (size_t j = 0; j < this->k; j++)
            this->positions[j] = keys[j].number;
        km_group_bounds_form(this->bounds, this->positions);
    }
    good = good && arrange(this, keys, counts, starts);
    free(keys);
    free(counts);
    free(starts);
    return good;
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
    for (size_t j = 0; j < this->panels * this->kernel->centroids; j++)
        if (this->norms[j] < INFINITY)
            this->reach = fmaxf(this->reach, this->norms[j]);
    return error;
}

int km_quantised_create(const float *rows, size_t k, size_t dim, const km_kernel *kernel,
                        km_group_bounds *bounds, int threads, km_quantised **centroids) {
    km_quantised *made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    kernel = kernel->quantised ? kernel->quantised : kernel;
    *made = (km_quantised){.kernel = kernel,
                           .rows = rows,
                           .k = k,
                           .dim = dim,
                           .groups = km_quotient_up(dim, kernel->group),
                           .bounds = bounds,
                           .starts = km_allocate(KM_BOUND_GROUPS + 1, sizeof *made->starts),
                           .mean = km_allocate(dim, sizeof *made->mean),
                           .positions = km_allocate(k, sizeof *made->positions)};
    made->panel_bytes = made->groups * kernel->group * kernel->element * kernel->centroids;
    made->cached = larger(CENTROID_BYTES / made->panel_bytes, 1);
    int error = ENOMEM;
    if (made->starts && made->mean && made->positions && compute_mean(rows, k, dim, made->mean) &&
        arrange_centroids(made))
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
    free(centroids->starts);
    free(centroids->mean);
    free(centroids->positions);
    free(centroids->order);
    free(centroids->squares);
    free(centroids->scales);
    free(centroids->norms);
    free(centroids->rests);
    free(centroids->bases);
    free(centroids->ends);
    free(centroids->group);
    free(centroids->panel_norms);
    free(centroids->panel_rests);
    free(centroids);
}

/* --- Points --- */

/* A pair that has not been ruled out. */
typedef struct open_pair {
    uint32_t point; /* in its block */
    uint32_t centroid;
    float low; /* a lower bound of h times its score */
} open_pair;

/* A panel of points, all of one block, and their search state in the order of the panel. */
typedef struct point_panel {
    const unsigned char *data;
    size_t n;                /* the other points are missing */
    const uint32_t *numbers; /* of its points in the block */
    const float *halves, *code_norms, *code_rests, *slacks;
    float *bounds;
} point_panel;

/* What a thread needs to use and make the bounds of a block. */
typedef struct group_search {
    size_t *which;       /* the points' numbers in the bounds */
    uint32_t *own;       /* their guessed centroids */
    double *own_best;    /* the squared distances of these */
    float *reaches;      /* upper bounds of best's roots */
    uint32_t *list;      /* points that can't leave out a group */
    uint8_t *gathered;   /* their codes */
    unsigned char *data; /* a panel of them */
    uint32_t corrections[TILE_POINTS];
    float halves[TILE_POINTS], code_norms[TILE_POINTS], code_rests[TILE_POINTS],
        slacks[TILE_POINTS], bounds[TILE_POINTS];
    float lows[KM_BOUND_GROUPS * TILE_POINTS]; /* see km_screen */
    bool touched[KM_BOUND_GROUPS];             /* some of a group's lows were lowered */
} group_search;

/* A thread's scratch memory: a block of points, and their search state. */
typedef struct workspace {
    size_t panel_bytes;
    unsigned char *data; /* panels of codes */
    uint8_t *codes;      /* the codes of a panel, row after row; with bounds, of the block */
    uint32_t *corrections;
    /* For each point of the block, with those that are missing in its last panel. */
    const float **rows;
    uint32_t *numbers; /* 0, 1, 2 and so on */
    float *halves, *code_norms, *code_rests, *slacks, *bounds;
    float *squares; /* |y|^2 */
    double *best;   /* the distance of nearest; or infinity */
    uint32_t *nearest;
    group_search *search; /* NULL without bounds */
    /* For a panel. */
    float lowest[TILE_POINTS];    /* the lowest score that was listed */
    uint32_t likely[TILE_POINTS]; /* its centroid */
    int32_t *products;
    km_estimate *estimates;
    open_pair *pairs;
    size_t count; /* of pairs */
} workspace;

static void group_search_free(group_search *search) {
    if (!search)
        return;
    free(search->which);
    free(search->own);
    free(search->own_best);
    free(search->reaches);
    free(search->list);
    free(search->gathered);
    free(search->data);
    free(search);
}

static void clear_lows(group_search *search) {
    for (size_t i = 0; i < KM_BOUND_GROUPS * TILE_POINTS; i++)
        search->lows[i] = INFINITY;
    memset(search->touched, 0, sizeof search->touched);
}

/* Allocates what a block of POINTS points needs for bounds. Returns NULL if memory is short. */
static group_search *group_search_create(size_t points, const km_quantised *centroids) {
    const km_kernel *kernel = centroids->kernel;
    size_t point_bytes = centroids->groups * kernel->group * kernel->element;
    group_search *made = km_allocate(1, sizeof *made);
    if (!made)
        return NULL;
    made->which = km_allocate(points, sizeof *made->which);
    made->own = km_allocate(points, sizeof *made->own);
    made->own_best = km_allocate(points, sizeof *made->own_best);
    made->reaches = km_allocate(points, sizeof *made->reaches);
    made->list = km_allocate(points, sizeof *made->list);
    made->gathered = km_allocate(kernel->points, centroids->dim);
    made->data = km_allocate(kernel->points, point_bytes);
    clear_lows(made);
    if (made->which && made->own && made->own_best && made->reaches && made->list &&
        made->gathered && made->data)
        return made;
    group_search_free(made);
    return NULL;
}

static void workspace_free(workspace *space) {
    group_search_free(space->search);
    free(space->numbers);
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
    *space = (workspace){
        .panel_bytes = kernel->points * point_bytes,
        .data = km_allocate(points, point_bytes),
        .codes = km_allocate(centroids->bounds ? points : kernel->points, centroids->dim),
        .numbers = km_allocate(points, sizeof *space->numbers),
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
    if (centroids->bounds)
        space->search = group_search_create(points, centroids);
    for (size_t i = 0; space->numbers && i < points; i++)
        space->numbers[i] = (uint32_t)i;
    if ((space->search || !centroids->bounds) && space->numbers && space->data && space->codes &&
        space->corrections && space->rows && space->halves && space->code_norms &&
        space->code_rests && space->slacks && space->bounds && space->squares && space->best &&
        space->nearest && space->products && space->estimates && space->pairs)
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
    uint8_t *codes = space->codes + (centroids->bounds ? i * centroids->dim : 0);
    for (size_t at = 0; at < n; at++)
        quantise_point(centroids, space, i + at, codes + at * centroids->dim);
    kernel->pack(codes, n, centroids->dim, space->data + i / kernel->points * space->panel_bytes,
                 space->corrections + i);
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

/* Decides the listed pairs of PANEL. */
static void decide_pairs(const km_quantised *centroids, workspace *space,
                         const point_panel *panel) {
    const size_t dim = centroids->dim;
    const double factor = 2 - (double)norm_factor(dim), underflow = (double)dim * 0x1p-149;
    for (size_t at = 0; at < panel->n; at++) {
        size_t point = panel->numbers[at];
        if (space->lowest[at] < INFINITY && space->best[point] == INFINITY)
            compare_exactly(centroids, space, point, space->likely[at]);
        space->lowest[at] = INFINITY;
    }
    for (size_t l = 0; l < space->count; l++) {
        const open_pair *pair = &space->pairs[l];
        size_t point = pair->point;
        if (pair->low > space->bounds[point] || pair->centroid == space->nearest[point])
            continue;
        float near =
            km_near_distance2(space->rows[point], centroids->rows + pair->centroid * dim, dim);
        if (near == INFINITY || (double)near * factor - underflow <= space->best[point])
            compare_exactly(centroids, space, point, pair->centroid);
    }
    space->count = 0;
}

/* Lists N estimates for PANEL; the first of their centroids has position FIRST. */
static void list_pairs(const km_quantised *centroids, size_t first, size_t n,
                       const point_panel *panel, workspace *space) {
    for (size_t l = 0; l < n; l++) {
        const km_estimate *found = &space->estimates[l];
        uint32_t i = found->point, j = centroids->order[first + found->centroid];
        space->pairs[space->count++] = (open_pair){panel->numbers[i], j, found->low};
        if (found->score < space->lowest[i]) {
            space->lowest[i] = found->score;
            space->likely[i] = j;
        }
    }
}

/* Describes a panel of points and the centroids of panels START to END - 1. */
static km_screen describe(const km_quantised *centroids, const workspace *space,
                          const point_panel *panel, size_t start, size_t end) {
    size_t step = centroids->kernel->centroids, first = start * step;
    return (km_screen){.points = centroids->kernel->points,
                       .count = (end - start) * step,
                       .step = step,
                       .halves = panel->halves,
                       .code_norms = panel->code_norms,
                       .code_rests = panel->code_rests,
                       .slacks = panel->slacks,
                       .bounds = panel->bounds,
                       .squares = centroids->squares + first,
                       .scales = centroids->scales + first,
                       .norms = centroids->norms + first,
                       .rests = centroids->rests + first,
                       .bases = centroids->bases + first,
                       .panel_norms = centroids->panel_norms + start,
                       .panel_rests = centroids->panel_rests + start,
                       .first = first,
                       .ends = centroids->ends + first,
                       .groups = centroids->group + first,
                       .lows = space->search ? space->search->lows : NULL};
}

/*
 * Replaces the products of the points of PANEL with their guessed centroids, if these have
 * positions FIRST to END - 1, by one that is less than any other, so that they are not part of the
 * bounds. Their distances are known. Also notes which groups the positions belong to.
 */
static void leave_out_guesses(const km_quantised *centroids, workspace *space,
                              const point_panel *panel, size_t first, size_t end) {
    const int32_t least = -(1 << 30); /* below -127^2 KM_MAX_DIM */
    group_search *search = space->search;
    for (size_t at = 0; at < panel->n; at++) {
        uint32_t own = search->own[panel->numbers[at]];
        size_t position = own < centroids->k ? centroids->positions[own] : end;
        if (position >= first && position < end)
            space->products[(position - first) * centroids->kernel->points + at] =
                centroids->bases[position] + least;
    }
    for (size_t j = first; j < end; j = centroids->ends[j])
        search->touched[centroids->group[j]] = true;
}

/* Compares a panel of points with the panels of centroids from START to END - 1. */
static void search_panels(const km_quantised *centroids, size_t start, size_t end, workspace *space,
                          const point_panel *panel) {
    const km_kernel *kernel = centroids->kernel;
    const size_t step = kernel->centroids, tile = kernel->points * step;
    for (size_t next; start < end; start = next) {
        next = smaller(start + STRIP / step, end);
        for (size_t at = start; at < next; at++)
            kernel->multiply(panel->data, centroids->data + at * centroids->panel_bytes,
                             centroids->groups, space->products + (at - start) * tile);
        if (space->search)
            leave_out_guesses(centroids, space, panel, start * step, next * step);
        const km_screen screen = describe(centroids, space, panel, start, next);
        size_t found = km_screen_panels(&screen, space->products, space->estimates);
        list_pairs(centroids, start * step, found, panel, space);
        if (space->count >= PAIRS)
            decide_pairs(centroids, space, panel);
    }
    decide_pairs(centroids, space, panel);
}

/* --- Bounds --- */

static uint16_t *bound_at(const km_quantised *centroids, const workspace *space, size_t group,
                          size_t point) {
    const km_group_bounds *bounds = centroids->bounds;
    return &bounds->lower[group * bounds->rows + space->search->which[point]];
}

/* Stores the bounds that the last comparisons of PANEL gave for GROUP; lowers them unless FRESH. */
static void store_bounds(const km_quantised *centroids, workspace *space, const point_panel *panel,
                         size_t group, bool fresh) {
    group_search *search = space->search;
    float *lows = search->lows + group * centroids->kernel->points, squares[TILE_POINTS];
    uint16_t found[TILE_POINTS];
    for (size_t at = 0; at < panel->n; at++)
        squares[at] = space->squares[panel->numbers[at]];
    km_distance_bounds(lows, squares, panel->halves, panel->n, norm_factor(centroids->dim) - 1,
                       centroids->bounds->drifts[group], found);
    for (size_t at = 0; at < panel->n; at++) {
        uint16_t *bound = bound_at(centroids, space, group, panel->numbers[at]);
        *bound = fresh || found[at] < *bound ? found[at] : *bound;
    }
    for (size_t at = 0; at < centroids->kernel->points; at++)
        lows[at] = INFINITY;
    search->touched[group] = false;
}

/* Prepares the bounds of a block of N points of the query, from number FIRST on. */
static void prepare_bounds(const km_query *query, size_t first, size_t n, const uint32_t *guess,
                           const km_quantised *centroids, const workspace *space) {
    group_search *search = space->search;
    for (size_t i = 0; i < n; i++) {
        search->which[i] = query->which ? query->which[first + i] : first + i;
        search->own[i] = guess ? guess[first + i] : nothing;
        search->own_best[i] = space->best[i];
        search->reaches[i] = (float)(sqrt(space->best[i]) * (1 + 0x1p-20));
    }
    for (size_t group = 0; group < centroids->bounds->groups; group++)
        for (size_t i = 0; centroids->bounds->whole[group] && i < n; i++)
            *bound_at(centroids, space, group, i) = KM_NO_BOUND;
}

/* Lists those of a block's N points that can't leave out GROUP and returns their number. */
static size_t list_points(const km_quantised *centroids, const workspace *space, size_t group,
                          size_t n) {
    group_search *search = space->search;
    const float drift = centroids->bounds->drifts[group];
    size_t listed = 0;
    for (size_t i = 0; i < n; i++) {
        float bound = km_bound_value(*bound_at(centroids, space, group, i));
        search->list[listed] = (uint32_t)i;
        listed += bound <= (search->reaches[i] + drift) * (1 + 0x1p-20F);
    }
    return listed;
}

/* Packs N points, whose numbers in the block are NUMBERS, to a panel. */
static point_panel gather_points(const km_quantised *centroids, const workspace *space,
                                 const uint32_t *numbers, size_t n) {
    const size_t dim = centroids->dim;
    group_search *to = space->search;
    for (size_t at = 0; at < centroids->kernel->points; at++) {
        size_t i = numbers[at < n ? at : 0];
        if (at < n)
            memcpy(to->gathered + at * dim, space->codes + i * dim, dim);
        to->halves[at] = space->halves[i];
        to->code_norms[at] = space->code_norms[i];
        to->code_rests[at] = space->code_rests[i];
        to->slacks[at] = space->slacks[i];
        to->bounds[at] = at < n ? space->bounds[i] : -INFINITY;
    }
    centroids->kernel->pack(to->gathered, n, dim, to->data, to->corrections);
    return (point_panel){.data = to->data,
                         .n = n,
                         .numbers = numbers,
                         .halves = to->halves,
                         .code_norms = to->code_norms,
                         .code_rests = to->code_rests,
                         .slacks = to->slacks,
                         .bounds = to->bounds};
}

/* Compares those of a block's N points that can't leave out GROUP with its panels. */
static void search_group(const km_quantised *centroids, size_t group, size_t n, workspace *space) {
    const size_t step = centroids->kernel->points, listed = list_points(centroids, space, group, n);
    for (size_t at = 0; at < listed; at += step) {
        const point_panel panel =
            gather_points(centroids, space, space->search->list + at, smaller(listed - at, step));
        search_panels(centroids, centroids->starts[group], centroids->starts[group + 1], space,
                      &panel);
        for (size_t i = 0; i < panel.n; i++)
            space->bounds[panel.numbers[i]] =
                fminf(panel.bounds[i], space->bounds[panel.numbers[i]]);
        store_bounds(centroids, space, &panel, group, true);
    }
}

static void search_groups(const km_quantised *centroids, size_t n, workspace *space) {
    for (size_t group = 0; group < centroids->bounds->groups; group++)
        if (centroids->starts[group] < centroids->starts[group + 1])
            search_group(centroids, group, n, space);
}

/* Lowers bounds by the guessed centroids of N points that are no longer nearest. */
static void add_guesses(const km_quantised *centroids, size_t n, const workspace *space) {
    const km_group_bounds *bounds = centroids->bounds;
    for (size_t i = 0; i < n; i++) {
        uint32_t own = space->search->own[i];
        if (own >= centroids->k || own == space->nearest[i])
            continue;
        size_t group = bounds->group[own];
        double distance = sqrt(space->search->own_best[i]) + (double)bounds->drifts[group];
        uint16_t *bound = bound_at(centroids, space, group, i),
                 stored = km_bound_store((float)(distance * (1 - 0x1p-20)));
        *bound = stored < *bound ? stored : *bound;
    }
}

/* Stores the bounds of all groups that PANEL was compared with. */
static void store_touched(const km_quantised *centroids, workspace *space,
                          const point_panel *panel) {
    for (size_t group = 0; group < centroids->bounds->groups; group++)
        if (space->search->touched[group])
            store_bounds(centroids, space, panel, group, false);
}

/* --- Blocks --- */

/* Compares a block of N points with all centroids from panel START on. */
static void search_block(const km_quantised *centroids, size_t start, size_t n, workspace *space) {
    const size_t step = centroids->kernel->points;
    for (size_t end; start < centroids->panels; start = end) {
        end = smaller(start + centroids->cached, centroids->panels);
        for (size_t i = 0; i < n; i += step) {
            const point_panel panel = {.data = space->data + i / step * space->panel_bytes,
                                       .n = smaller(n - i, step),
                                       .numbers = space->numbers + i,
                                       .halves = space->halves + i,
                                       .code_norms = space->code_norms + i,
                                       .code_rests = space->code_rests + i,
                                       .slacks = space->slacks + i,
                                       .bounds = space->bounds + i};
            search_panels(centroids, start, end, space, &panel);
            if (centroids->bounds)
                store_touched(centroids, space, &panel);
        }
    }
}

/* Finds the nearest centroids of N points of the query, from number FIRST on. */
static void assign_block(const km_query *query, size_t first, size_t n, const uint32_t *guess,
                         const km_quantised *centroids, workspace *space) {
    prepare_block(query, first, n, guess, centroids, space);
    for (size_t i = 0; i < TILE_POINTS; i++)
        space->lowest[i] = INFINITY;
    if (!centroids->bounds) {
        search_block(centroids, 0, n, space);
        return;
    }
    prepare_bounds(query, first, n, guess, centroids, space);
    search_groups(centroids, n, space);
    search_block(centroids, centroids->starts[centroids->bounds->groups], n, space);
    add_guesses(centroids, n, space);
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
            assign_block(query, first, n, guess, centroids, &space);
            memcpy(nearest + first, space.nearest, n * sizeof *nearest);
            for (size_t i = 0; distance && i < n; i++)
                distance[first + i] = km_real_bits(space.best[i]);
        }
        if (!error)
            workspace_free(&space);
    }
    return error;
}
