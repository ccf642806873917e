/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/quantised_points.h"

#include "kmeans/assign/pack.h"
#include "kmeans/assign/vectors.h"
#include "kmeans/points/memory.h"
#include "kmeans/points/real.h"

#include <math.h>

/*
 * 4 * 2^-53 / u. Times (n + 16) 2 u, it exceeds twice the relative error of distances in double
 * precision (quantised.h).
 */
static const float distance_error = 0x1p-27F;
static const float least_share = 0x1p-40F; /* the least scale, as a share of the largest |e| */

/* The arrays of a km_block, and the bytes that each has for a point. */
#define ARRAYS(DO)                                                                                 \
    DO(data, kernel->group * kernel->element * centroids->groups)                                  \
    DO(codes, centroids->dim)                                                                      \
    DO(rows, sizeof *block->rows)                                                                  \
    DO(code_rows, sizeof *block->code_rows)                                                        \
    DO(own, sizeof *block->own)                                                                    \
    DO(own_positions, sizeof *block->own_positions)                                                \
    DO(numbers, sizeof *block->numbers)                                                            \
    DO(corrections, sizeof *block->corrections)                                                    \
    DO(halves, sizeof *block->halves)                                                              \
    DO(code_norms, sizeof *block->code_norms)                                                      \
    DO(code_rests, sizeof *block->code_rests)                                                      \
    DO(slacks, sizeof *block->slacks)                                                              \
    DO(bounds, sizeof *block->bounds)                                                              \
    DO(squares, sizeof *block->squares)                                                            \
    DO(best, sizeof *block->best)                                                                  \
    DO(nearest, sizeof *block->nearest)

void km_block_free(km_block *block) {
#define FREE(array, bytes) free(block->array);
    ARRAYS(FREE)
}

bool km_block_create(size_t points, const km_quantised *centroids, km_block *block) {
    const km_kernel *kernel = centroids->kernel;
    bool good = true;
    *block = (km_block){.centroids = centroids,
                        .panel_bytes =
                            kernel->points * centroids->groups * kernel->group * kernel->element};
#define ALLOCATE(array, bytes) good = (block->array = km_allocate(points, bytes)) && good;
    ARRAYS(ALLOCATE)
    if (!good) {
        km_block_free(block);
        return false;
    }
    for (size_t i = 0; i < points; i++)
        block->numbers[i] = (uint32_t)i;
    return true;
}

/* Quantises ROW to CODES. LEAST is the least scale. */
static km_code_sizes quantise_row(const km_quantised *centroids, const float *row, float least,
                                  uint8_t *codes) {
    const size_t dim = centroids->dim;
    const int range = centroids->kernel->range;
    const float deviation = km_largest_deviation(row, centroids->mean, dim);
    if (!(deviation <= km_largest)) {
        memset(codes, range + 1, dim);
        return (km_code_sizes){.scale = 1, .norm = 0, .rest = INFINITY, .square = INFINITY};
    }
    const float factor = km_norm_factor(dim), scale = fmaxf(deviation / (float)range, least);
    const km_quantum sums = km_quantise(row, centroids->mean, dim, scale, range + 1, codes);
    return (km_code_sizes){.scale = scale,
                           .norm = sqrtf(sums.codes2) * factor,
                           .rest = sqrtf(sums.rests2) * factor + km_vanished +
                                   km_slack * sqrtf(sums.deviations2) * factor,
                           .square = sums.deviations2};
}

/* Sets the codes of point I of the block. NUMBER is the point's number among all points. */
static void set_codes(const km_block *block, size_t i, size_t number) {
    const km_quantised *centroids = block->centroids;
    const km_code_cache *cache = centroids->cache;
    const float least = fmaxf(km_least_scale, least_share * centroids->reach);
    uint8_t *codes =
        cache ? cache->storage.data + number * centroids->dim : block->codes + i * centroids->dim;
    km_code_sizes sizes = {.scale = 0};
    if (cache)
        sizes = cache->sizes[number];
    if (sizes.scale < least) {
        sizes = quantise_row(centroids, block->rows[i], least, codes);
        if (cache)
            cache->sizes[number] = sizes;
    }
    block->code_rows[i] = codes;
    block->halves[i] = 0.5F / sizes.scale;
    block->code_norms[i] = sizes.norm;
    block->code_rests[i] = (sizes.rest + km_slack * centroids->reach) / sizes.scale;
    block->slacks[i] = sizes.square < INFINITY
                           ? sizes.square * (km_norm_factor(centroids->dim) - 1) * distance_error *
                                 block->halves[i]
                           : 0;
    block->squares[i] = sizes.square;
}

/* Lowers the bound of point I to the bound that follows from its best distance. */
static void set_bound(const km_block *block, size_t i) {
    double square = (double)block->squares[i],
           margin = (double)km_norm_factor(block->centroids->dim) - 1;
    double bound = (block->best[i] - square + square * margin) * (double)block->halves[i];
    float rounded = (float)(bound + fabs(bound) * (double)FLT_EPSILON);
    if (rounded < block->bounds[i])
        block->bounds[i] = rounded;
}

void km_block_compare(const km_block *block, size_t i, uint32_t j) {
    const km_quantised *centroids = block->centroids;
    double distance =
        km_real_distance2(block->rows[i], centroids->rows + j * centroids->dim, centroids->dim);
    if (distance > block->best[i] || (distance == block->best[i] && j >= block->nearest[i]))
        return;
    block->best[i] = distance;
    block->nearest[i] = j;
    set_bound(block, i);
}

/* Packs the panel of N points that begins with point I of the block. */
static void pack_panel(const km_block *block, size_t i, size_t n) {
    const km_quantised *centroids = block->centroids;
    const km_kernel *kernel = centroids->kernel;
    kernel->pack(km_gather(block->code_rows + i, n, centroids->dim, block->codes), n,
                 centroids->dim, block->data + i / kernel->points * block->panel_bytes,
                 block->corrections + i);
    for (size_t at = i + n; at < i + kernel->points; at++) {
        block->halves[at] = block->code_norms[at] = block->code_rests[at] = block->slacks[at] = 0;
        block->bounds[at] = -INFINITY;
    }
}

void km_block_prepare(km_block *block, const km_query *query, size_t first, size_t n,
                      const uint32_t *guess) {
    const km_quantised *centroids = block->centroids;
    const float *rows = (const float *)query->rows;
    size_t step = centroids->kernel->points;
    for (size_t i = 0; i < n; i++) {
        size_t number = km_query_number(query, first + i);
        uint32_t own = guess ? guess[first + i] : KM_NO_CENTROID;
        block->rows[i] = rows + number * centroids->dim;
        block->best[i] = block->bounds[i] = INFINITY;
        block->nearest[i] = KM_NO_CENTROID;
        block->own[i] = own < centroids->k ? own : KM_NO_CENTROID;
        block->own_positions[i] = own < centroids->k ? centroids->positions[own] : KM_NO_CENTROID;
        set_codes(block, i, number);
        if (own < centroids->k)
            km_block_compare(block, i, own);
    }
    for (size_t i = 0; i < n; i += step)
        pack_panel(block, i, km_smaller(n - i, step));
}

km_quantised_panel km_block_panel(const km_block *block, size_t i, size_t n) {
    const size_t step = block->centroids->kernel->points;
    return (km_quantised_panel){.data = block->data + i / step * block->panel_bytes,
                                .n = km_smaller(n - i, step),
                                .numbers = block->numbers + i,
                                .halves = block->halves + i,
                                .code_norms = block->code_norms + i,
                                .code_rests = block->code_rests + i,
                                .slacks = block->slacks + i,
                                .bounds = block->bounds + i};
}
