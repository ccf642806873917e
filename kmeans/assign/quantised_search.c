/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/quantised_search.h"

#include "kmeans/points/memory.h"

#include <math.h>

enum {
    PAIRS = 2048, /* when at least this many pairs are listed, their exact distances are compared */
    STRIP = 48    /* the most centroids whose products are computed at a time */
};

void km_search_free(km_search *search) {
    free(search->products);
    free(search->estimates);
    free(search->pairs);
}

bool km_search_create(km_block *block, km_group_lows *lows, km_search *search) {
    *search =
        (km_search){.block = block,
                    .lows = lows,
                    .products = km_allocate(KM_TILE_POINTS * STRIP, sizeof(int32_t)),
                    .estimates = km_allocate(KM_TILE_POINTS * STRIP, sizeof *search->estimates),
                    .pairs = km_allocate(PAIRS + KM_TILE_POINTS * STRIP, sizeof *search->pairs)};
    for (size_t i = 0; i < KM_TILE_POINTS; i++)
        search->lowest[i] = INFINITY;
    if (search->products && search->estimates && search->pairs)
        return true;
    km_search_free(search);
    return false;
}

/*
 * Compares the exact distances of the listed pairs of PANEL. Skips pairs that are ruled out by the
 * bounds so far, or by a distance in float32.
 */
static void decide_pairs(km_search *search, const km_quantised_panel *panel) {
    const km_block *block = search->block;
    const km_quantised *centroids = block->centroids;
    const size_t dim = centroids->dim;
    const double factor = 2 - (double)km_norm_factor(dim), underflow = (double)dim * 0x1p-149;
    for (size_t at = 0; at < panel->n; at++) {
        size_t point = panel->numbers[at];
        if (search->lowest[at] < INFINITY && block->best[point] == INFINITY)
            km_block_compare(block, point, search->likely[at]);
        search->lowest[at] = INFINITY;
    }
    for (size_t l = 0; l < search->count; l++) {
        const km_open_pair *pair = &search->pairs[l];
        size_t point = pair->point;
        if (pair->low > block->bounds[point] || pair->centroid == block->nearest[point])
            continue;
        float near =
            km_near_distance2(block->rows[point], centroids->rows + pair->centroid * dim, dim);
        if (near == INFINITY || (double)near * factor - underflow <= block->best[point])
            km_block_compare(block, point, pair->centroid);
    }
    search->count = 0;
}

/* Lists the pairs of N estimates for PANEL. Estimates number centroids from position FIRST on. */
static void list_pairs(km_search *search, const km_quantised_panel *panel, size_t first, size_t n) {
    for (size_t l = 0; l < n; l++) {
        const km_estimate *found = &search->estimates[l];
        uint32_t i = found->point, j = search->block->centroids->order[first + found->centroid];
        search->pairs[search->count++] = (km_open_pair){panel->numbers[i], j, found->low};
        if (found->score < search->lowest[i]) {
            search->lowest[i] = found->score;
            search->likely[i] = j;
        }
    }
}

/* Describes a panel of points and the centroids of panels START to END - 1. */
static km_screen describe(const km_search *search, const km_quantised_panel *panel, size_t start,
                          size_t end) {
    const km_quantised *centroids = search->block->centroids;
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
                       .lows = search->lows ? search->lows->lows : NULL};
}

/*
 * Replaces the product of each point of PANEL and its guessed centroid, if that has a position from
 * FIRST to END - 1, by a number that is less than any product. So the pair, whose distance is
 * known, is neither listed nor counted in the lows.
 */
static void leave_out_guesses(km_search *search, const km_quantised_panel *panel, size_t first,
                              size_t end) {
    const int32_t least = -(1 << 30); /* below -127^2 KM_MAX_DIM */
    const km_quantised *centroids = search->block->centroids;
    for (size_t at = 0; at < panel->n; at++) {
        const size_t position = search->block->own_positions[panel->numbers[at]];
        if (position >= first && position < end)
            search->products[(position - first) * centroids->kernel->points + at] =
                centroids->bases[position] + least;
    }
}

/* Marks the groups to which the positions FIRST to END - 1 belong as touched. */
static void touch_groups(km_search *search, size_t first, size_t end) {
    const km_quantised *centroids = search->block->centroids;
    for (size_t j = first; j < end; j = centroids->ends[j])
        search->lows->touched[centroids->group[j]] = true;
}

void km_search_panels(km_search *search, const km_quantised_panel *panel, size_t start,
                      size_t end) {
    const km_quantised *centroids = search->block->centroids;
    const km_kernel *kernel = centroids->kernel;
    const size_t step = kernel->centroids, tile = kernel->points * step;
    for (size_t next; start < end; start = next) {
        next = km_smaller(start + STRIP / step, end);
        for (size_t at = start; at < next; at++)
            kernel->multiply(panel->data, centroids->data + at * centroids->panel_bytes,
                             centroids->groups, search->products + (at - start) * tile);
        leave_out_guesses(search, panel, start * step, next * step);
        if (search->lows)
            touch_groups(search, start * step, next * step);
        const km_screen screen = describe(search, panel, start, next);
        size_t found = km_screen_panels(&screen, search->products, search->estimates);
        list_pairs(search, panel, start * step, found);
        if (search->count >= PAIRS)
            decide_pairs(search, panel);
    }
    decide_pairs(search, panel);
}
