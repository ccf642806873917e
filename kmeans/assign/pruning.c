/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/pruning.h"

#include "kmeans/assign/order.h"
#include "kmeans/assign/pack.h"
#include "kmeans/points/fixed_point.h"
#include "kmeans/points/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CACHE_LINE = 64,
    LOOKED_AT = 8,     /* a first guess looks at one panel in LOOKED_AT ... */
    LOOKED_AROUND = 8, /* ... and a better guess at panels near the guess so far: find_around */
    DENSE = 4,         /* a tile is dense if more than one in DENSE of its pairs is left */
    TRIED_EVERY = 4,   /* one block in TRIED_EVERY is tested at all levels; the others skip ... */
    USUAL = 7,         /* ... a level that leaves USUAL / 8 of its tiles or more to the next one */
};

struct km_pruning {
    km_packed of;
    size_t panels;
    size_t sketches; /* number of levels with sketches, the coarsest first; the level of rows
                        follows */
    km_filter_level level[KM_FILTER_LEVELS];
    bool rows_usable;    /* the level of rows may be used: all its floors fit 32 bits */
    uint32_t *order;     /* the centroids' numbers in the order of the levels */
    uint32_t *positions; /* the inverse permutation */
};

/* Packs the rows in the order of the index. */
static int pack_rows(const km_pruning *pruning, int threads) {
    const km_packed *of = &pruning->of;
    const km_kernel *kernel = of->kernel;
    size_t bytes = pruning->level[pruning->sketches].panel_bytes;
    int error = 0;
#pragma omp parallel num_threads(threads) reduction(| : error)
    {
        uint8_t *rows = km_allocate(kernel->centroids, of->dim);
        uint32_t norms[KM_TILE_CENTROIDS]; /* unused */
        error = rows ? 0 : ENOMEM;
#pragma omp for schedule(static)
        for (size_t panel = 0; panel < pruning->panels; panel++) {
            size_t first = panel * kernel->centroids, n = of->k - first;
            n = n < kernel->centroids ? n : kernel->centroids;
            for (size_t j = 0; rows && j < n; j++)
                memcpy(rows + j * of->dim, of->rows + pruning->order[first + j] * of->dim, of->dim);
            if (rows)
                kernel->pack_centroids(kernel, rows, n, of->dim, of->data + panel * bytes, norms);
        }
        free(rows);
    }
    return error;
}

/*
 * Makes the levels with sketches, all in the order that km_order finds for the coarsest sketches.
 */
static int make_sketch_levels(km_pruning *pruning, const km_projection *projection, int threads) {
    const km_projection *levels[KM_SKETCH_LEVELS];
    int error = 0;
    pruning->sketches = km_projection_levels(projection, levels);
    for (size_t l = 0; !error && l < pruning->sketches; l++)
        error = km_filter_level_project(&pruning->level[l], &pruning->of, levels[l], threads);
    if (!error)
        error = km_order(pruning->level[0].bytes, pruning->of.k, levels[0]->numbers,
                         pruning->of.kernel->centroids, pruning->order);
    for (size_t l = 0; !error && l < pruning->sketches; l++)
        error = km_filter_level_pack(&pruning->level[l], pruning->order);
    return error;
}

static bool allocate_order(km_pruning *pruning) {
    pruning->order = km_allocate(pruning->of.k, sizeof *pruning->order);
    pruning->positions = km_allocate(pruning->of.k, sizeof *pruning->positions);
    for (size_t j = 0; pruning->order && j < pruning->of.k; j++)
        pruning->order[j] = (uint32_t)j;
    return pruning->order && pruning->positions;
}

int km_pruning_create(const km_packed *of, const km_projection *projection, int threads,
                      km_pruning **pruning) {
    km_pruning *made = calloc(1, sizeof *made);
    if (!made)
        return ENOMEM;
    made->of = *of;
    made->panels = km_quotient_up(of->k, of->kernel->centroids);
    made->rows_usable = of->dim <= KM_FIXED_POINT_MAX_DIM;
    int error = allocate_order(made) ? 0 : ENOMEM;
    if (!error && projection)
        error = make_sketch_levels(made, projection, threads);
    if (!error)
        error = km_filter_level_from_rows(&made->level[made->sketches], &made->of, made->order);
    if (!error && projection)
        error = pack_rows(made, threads);
    for (size_t at = 0; !error && at < of->k; at++)
        made->positions[made->order[at]] = (uint32_t)at;
    if (error)
        km_pruning_free(made);
    else
        *pruning = made;
    return error;
}

void km_pruning_free(km_pruning *pruning) {
    if (!pruning)
        return;
    for (size_t l = 0; l < KM_FILTER_LEVELS; l++)
        km_filter_level_free(&pruning->level[l]);
    free(pruning->order);
    free(pruning->positions);
    free(pruning);
}

const uint32_t *km_pruning_positions(const km_pruning *pruning) {
    return pruning->positions;
}

size_t km_pruning_sketch_levels(const km_pruning *pruning) {
    return pruning->sketches;
}

size_t km_pruning_sketch_size(const km_pruning *pruning, size_t l) {
    return pruning->level[l].projection->numbers;
}

/* Packs the points' rows unless that has been done. */
static void pack_points(const km_pruning *pruning, const km_point_panel *points) {
    const km_packed *of = &pruning->of;
    if (!*points->packed)
        of->kernel->pack(km_gather(points->rows, points->n, of->dim, points->gathered), points->n,
                         of->dim, points->levels[pruning->sketches].panel, points->corrections);
    *points->packed = true;
}

static void pack_sketches(const km_pruning *pruning, size_t l, const uint8_t *bytes,
                          const km_point_panel *points) {
    pruning->of.kernel->pack(bytes, points->n, pruning->level[l].projection->numbers,
                             points->levels[l].panel, points->levels[l].corrections);
}

static bool are_all_cached(const km_sketch_cache *kept, const size_t *numbers, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (kept->errors[0][numbers[i]] < 0)
            return false;
    return true;
}

static void load_sketches(const km_pruning *pruning, const size_t *numbers,
                          const km_sketch_cache *kept, const km_point_panel *points) {
    uint8_t bytes[KM_TILE_POINTS * KM_SKETCH];
    for (size_t l = 0; l < pruning->sketches; l++) {
        size_t size = pruning->level[l].projection->numbers;
        for (size_t i = 0; i < points->n; i++) {
            memcpy(bytes + i * size, kept->bytes[l] + numbers[i] * size, size);
            points->levels[l].errors[i] = kept->errors[l][numbers[i]];
            points->corrections[i] = kept->corrections[numbers[i]];
        }
        pack_sketches(pruning, l, bytes, points);
    }
}

void km_pruning_sketch_points(const km_pruning *pruning, const size_t *numbers,
                              const km_sketch_cache *kept, const km_point_panel *points) {
    if (kept && are_all_cached(kept, numbers, points->n)) {
        load_sketches(pruning, numbers, kept, points);
        return;
    }
    uint8_t bytes[KM_TILE_POINTS * KM_SKETCH];
    pack_points(pruning, points);
    for (size_t l = 0; l < pruning->sketches; l++) {
        size_t size = pruning->level[l].projection->numbers;
        float *errors = points->levels[l].errors;
        km_filter_level_sketch_points(&pruning->level[l], points->levels[pruning->sketches].panel,
                                      points->corrections, bytes, errors);
        pack_sketches(pruning, l, bytes, points);
        for (size_t i = 0; kept && i < points->n; i++) {
            memcpy(kept->bytes[l] + numbers[i] * size, bytes + i * size, size);
            kept->errors[l][numbers[i]] = errors[i];
            kept->corrections[numbers[i]] = points->corrections[i];
        }
    }
}

/*
 * Sets *START to the first panel that a better guess looks at, and *END to one more than the last
 * one. The guess looks at all panels between those of the NEAREST centroids of N points, at
 * LOOKED_AROUND panels before them, and at LOOKED_AROUND - 1 panels after them.
 */
static void find_around(const km_pruning *pruning, const uint32_t *nearest, size_t n, size_t *start,
                        size_t *end) {
    size_t least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t panel = pruning->positions[nearest[i]] / pruning->of.kernel->centroids;
        least = panel < least ? panel : least;
        most = panel > most ? panel : most;
    }
    *start = least < LOOKED_AROUND ? 0 : least - LOOKED_AROUND;
    *end = pruning->panels - most <= LOOKED_AROUND ? pruning->panels : most + LOOKED_AROUND;
}

void km_pruning_guess(const km_pruning *pruning, bool near, const km_point_panel *points) {
    const km_kernel *kernel = pruning->of.kernel;
    size_t l = pruning->sketches - 1, start = 0, end = pruning->panels, step = near ? 1 : LOOKED_AT;
    const km_filter_level *level = &pruning->level[l];
    if (near)
        find_around(pruning, points->nearest, points->n, &start, &end);
    for (size_t panel = start; panel < end; panel += step) {
        size_t first = panel * kernel->centroids;
        kernel->tile(points->levels[l].panel, points->levels[l].corrections,
                     level->data + panel * level->panel_bytes, level->norms + first, level->groups,
                     (uint32_t)first, points->best, points->nearest);
    }
    for (size_t i = 0; i < points->n; i++)
        points->nearest[i] = pruning->order[points->nearest[i]];
}

/*
 * Returns the distance of point I's nearest centroid so far, or a little more; infinity if there is
 * none.
 */
static float distance_of(const km_point_panel *points, size_t i) {
    if (points->exact_best)
        return points->exact_best[i] == UINT64_MAX
                   ? INFINITY
                   : sqrtf((float)points->exact_best[i]) / (1 << KM_FRACTION_BITS) * 1.000001F;
    return points->best[i] == KM_NO_SCORE
               ? INFINITY
               : sqrtf((float)(points->best[i] + points->corrections[i])) * 1.000001F;
}

/*
 * Returns the least x.(c - 128) - |c|^2 / 2 that a centroid at DISTANCE or nearer can have at level
 * L. x is the sketch of point I; c is the sketch of the centroid, and its error e is at most SLACK.
 * This follows from |x - c|^2 = |c|^2 - 2 x.(c - 128) + the correction of x (kernel.h). The result
 * is a little less, to be safe from rounding.
 */
static int32_t floor_of(const km_pruning *pruning, const km_point_panel *points, size_t l, size_t i,
                        float distance, float slack) {
    const km_filter_level *level = &pruning->level[l];
    float error = points->levels[l].errors ? points->levels[l].errors[i] : 0;
    double far = fminf(level->stretch * distance * 1.0001F + error + slack, level->out_of_reach);
    return (int32_t)(((double)(int32_t)points->levels[l].corrections[i] - far * far) / 2) - 4;
}

/* Sets the floors of point I from the distance of its nearest centroid so far. */
static void set_floors(const km_pruning *pruning, const km_point_panel *points, size_t i) {
    points->distances[i] = distance_of(points, i);
    for (size_t l = 0; l < pruning->sketches + pruning->rows_usable; l++)
        points->levels[l].floors[i] =
            floor_of(pruning, points, l, i, points->distances[i], pruning->level[l].slack);
}

/*
 * Computes the scores of the points' guesses; skips points whose guess is not the number of a
 * centroid.
 */
static void score_guesses(const km_pruning *pruning, const uint32_t *guess,
                          const km_point_panel *points) {
    km_tile_scratch *scratch = points->scratch;
    size_t n = points->n;
    for (size_t i = 0; i < n; i++) {
        size_t j = guess[i] < pruning->of.k ? guess[i] : 0;
        scratch->points[i] = points->rows[i];
        scratch->centroids[i] = pruning->of.rows + j * pruning->of.dim;
    }
    pruning->of.kernel->multiply_rows(scratch->points, scratch->centroids, pruning->of.dim, n,
                                      scratch->products);
    for (size_t i = 0; i < n; i++)
        if (guess[i] < pruning->of.k)
            points->best[i] = pruning->of.norms[guess[i]] - 2 * (uint32_t)scratch->products[i];
}

void km_pruning_start(const km_pruning *pruning, const uint32_t *guess,
                      const km_point_panel *points) {
    size_t n = points->n;
    for (size_t i = 0; i < n; i++) {
        points->nearest[i] = guess[i];
        points->best[i] = KM_NO_SCORE;
        if (points->exact_best)
            points->exact_best[i] = guess[i] < pruning->of.k
                                        ? km_planes_distance2(&pruning->of.fixed_point->planes,
                                                              guess[i], points->rows[i])
                                        : UINT64_MAX;
    }
    if (!points->exact_best)
        score_guesses(pruning, guess, points);
    for (size_t i = 0; i < n; i++)
        set_floors(pruning, points, i);
    for (size_t i = n; i < pruning->of.kernel->points; i++)
        for (size_t l = 0; l < KM_FILTER_LEVELS; l++)
            points->levels[l].floors[i] = INT32_MAX;
}

/* The tile whose pairs are being compared. */
typedef struct tile_search {
    const km_pruning *pruning;
    const km_point_panel *points;
    size_t first; /* the position of the tile's first centroid in the index's order */
} tile_search;

/* Returns the number of a pair's centroid. */
static size_t centroid_of(const tile_search *this, km_pair pair) {
    return this->pruning->order[this->first + pair.centroid];
}

/*
 * Makes centroid J the nearest of point I. NEARER is false if J replaces an equally near centroid.
 */
static void set_nearest(const tile_search *this, size_t i, size_t j, bool nearer) {
    this->points->nearest[i] = (uint32_t)j;
    if (nearer)
        set_floors(this->pruning, this->points, i);
}

/*
 * Computes the products of N pairs of points and centroids. ROWS are the centroids' rows, or one of
 * their planes.
 */
static void multiply_pairs(const tile_search *this, const uint8_t *rows, size_t n) {
    const km_packed *of = &this->pruning->of;
    km_tile_scratch *scratch = this->points->scratch;
    for (size_t l = 0; l < n; l++) {
        scratch->points[l] = this->points->rows[scratch->pairs[l].point];
        scratch->centroids[l] = rows + centroid_of(this, scratch->pairs[l]) * of->dim;
    }
    of->kernel->multiply_rows(scratch->points, scratch->centroids, of->dim, n, scratch->products);
}

/* Compares N pairs in full. A smaller score raises the point's floors. */
static void compare_bytes(const tile_search *this, size_t n) {
    const km_packed *of = &this->pruning->of;
    const km_point_panel *points = this->points;
    multiply_pairs(this, of->rows, n);
    for (size_t l = 0; l < n; l++) {
        size_t i = points->scratch->pairs[l].point,
               j = centroid_of(this, points->scratch->pairs[l]);
        uint32_t score = of->norms[j] - 2 * (uint32_t)points->scratch->products[l];
        if (score > points->best[i] || (score == points->best[i] && j >= points->nearest[i]))
            continue;
        bool nearer = score < points->best[i];
        points->best[i] = score;
        set_nearest(this, i, j, nearer);
    }
}

/*
 * Returns whether a centroid may be nearest to point I if it is at most E away from a place whose
 * squared distance from the point is DISTANCE2.
 */
static bool may_be_nearest(const tile_search *this, size_t i, float distance2, float e) {
    float most = this->points->distances[i] + e;
    return distance2 <= most * most * 1.00001F + 0.001F;
}

/*
 * Computes the products of the points of N pairs with the digits of the centroids in PLANE, each
 * less 128.
 */
static void multiply_plane(const tile_search *this, size_t plane, size_t n) {
    multiply_pairs(this, km_plane_row(&this->pruning->of.fixed_point->planes, plane, 0), n);
}

/*
 * Keeps the pairs that the first plane doesn't rule out, and stores |x|^2 - 2 x.h of each. Returns
 * the number of pairs kept.
 */
static size_t filter_by_first_plane(const tile_search *this, size_t n) {
    const km_point_panel *points = this->points;
    km_tile_scratch *scratch = points->scratch;
    size_t left = 0;
    multiply_plane(this, 0, n);
    for (size_t l = 0; l < n; l++) {
        const km_pair pair = scratch->pairs[l];
        size_t i = pair.point, j = centroid_of(this, pair);
        uint32_t norm = this->pruning->of.norms[j];
        uint32_t distance2 = norm - 2 * (uint32_t)scratch->products[l] + points->corrections[i];
        scratch->pairs[left] = pair;
        scratch->first[left] = (int64_t)distance2 - norm;
        left +=
            may_be_nearest(this, i, (float)distance2, this->pruning->of.fixed_point->errors[0][j]);
    }
    return left;
}

/* Does the same with the second plane, and stores x.(a - 128) of each pair that is kept. */
static size_t filter_by_second_plane(const tile_search *this, size_t n) {
    const km_fixed_point *fixed_point = this->pruning->of.fixed_point;
    km_tile_scratch *scratch = this->points->scratch;
    size_t left = 0;
    multiply_plane(this, 1, n);
    for (size_t l = 0; l < n; l++) {
        const km_pair pair = scratch->pairs[l];
        size_t i = pair.point, j = centroid_of(this, pair);
        int64_t distance2 = scratch->first[l] * (1 << 16) -
                            (int64_t)scratch->products[l] * (1 << 9) +
                            (int64_t)fixed_point->norms[1][j];
        scratch->pairs[left] = pair;
        scratch->first[left] = scratch->first[l];
        scratch->second[left] = scratch->products[l];
        left += may_be_nearest(this, i, (float)distance2 / (1 << 16), fixed_point->errors[1][j]);
    }
    return left;
}

/*
 * Compares N pairs with fixed-point centroids, plane by plane until they are ruled out, and then
 * exactly.
 */
static void compare_fixed_point(const tile_search *this, size_t n) {
    const km_point_panel *points = this->points;
    km_tile_scratch *scratch = points->scratch;
    n = filter_by_first_plane(this, n);
    n = filter_by_second_plane(this, n);
    multiply_plane(this, 2, n);
    for (size_t l = 0; l < n; l++) {
        size_t i = scratch->pairs[l].point, j = centroid_of(this, scratch->pairs[l]);
        int64_t product = (int64_t)scratch->second[l] * (1 << 8) + scratch->products[l];
        uint64_t distance2 = ((uint64_t)scratch->first[l] << 32) - ((uint64_t)product << 17) +
                             this->pruning->of.fixed_point->norms[2][j];
        uint64_t best = points->exact_best[i];
        if (distance2 > best || (distance2 == best && j >= points->nearest[i]))
            continue;
        points->exact_best[i] = distance2;
        set_nearest(this, i, j, distance2 < best);
    }
}

size_t km_pruning_first_level(const km_pruning *pruning, size_t turn, const km_tally *tally) {
    size_t l = 0;
    if (turn % TRIED_EVERY == 1)
        return 0;
    if (turn == 0 && pruning->sketches > 1) /* most of the first block's centroids are near, so
                                             coarse sketches rule out little */
        return 1;
    while (l < pruning->sketches && tally->tiles[l] &&
           tally->left[l] * 8 >= tally->tiles[l] * USUAL)
        l++;
    return l;
}

/* Lists the pairs of a tile that level L doesn't rule out, unless PAIRS is NULL (kernel.h). */
static size_t filter_tile(const tile_search *this, size_t panel, size_t l, km_pair *pairs) {
    const km_filter_level *level = &this->pruning->level[l];
    const km_point_panel *points = this->points;
    return this->pruning->of.kernel->find_candidates(
        points->levels[l].panel, level->data + panel * level->panel_bytes,
        level->starts + this->first, level->groups, points->levels[l].floors, pairs);
}

/*
 * Lists the pairs of a tile that must be compared because the levels from number L on don't rule
 * them out. The level of rows is tested only if the levels with sketches are skipped or leave many
 * pairs of the tile.
 */
static size_t find_tile_candidates(const tile_search *this, size_t panel, size_t l) {
    const km_pruning *pruning = this->pruning;
    const km_kernel *kernel = pruning->of.kernel;
    km_tally *tally = this->points->tally;
    km_pair *pairs = this->points->scratch->pairs;
    for (; l < pruning->sketches; l++) {
        bool last = l + 1 == pruning->sketches;
        size_t found = filter_tile(this, panel, l, last ? pairs : NULL);
        tally->tiles[l]++;
        if (!found || (last && (!pruning->rows_usable ||
                                found * DENSE <= kernel->points * kernel->centroids)))
            return found;
        tally->left[l]++;
    }
    pack_points(pruning, this->points);
    return filter_tile(this, panel, l, pairs);
}

void km_pruning_search(const km_pruning *pruning, size_t start, size_t end, size_t from,
                       const km_point_panel *points) {
    tile_search this = {.pruning = pruning, .points = points};
    for (size_t panel = start; panel < end; panel++) {
        this.first = panel * pruning->of.kernel->centroids;
        size_t found = find_tile_candidates(&this, panel, from);
        if (found)
            (points->exact_best ? compare_fixed_point : compare_bytes)(&this, found);
    }
}

void km_pruning_prefetch(const km_pruning *pruning, size_t start, size_t part, size_t parts) {
    size_t k = pruning->of.k, dim = pruning->of.dim, first = start * pruning->of.kernel->centroids,
           n = pruning->of.block * pruning->of.kernel->centroids;
    if (first >= k)
        return;
    n = k - first < n ? k - first : n;
    for (size_t at = first + n * part / parts; at < first + n * (part + 1) / parts; at++)
        for (size_t d = 0; d < dim; d += CACHE_LINE)
            __builtin_prefetch(pruning->of.rows + pruning->order[at] * dim + d, 0, 2);
}
