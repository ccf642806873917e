/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/quantised_bounds.h"

#include "kmeans/points/memory.h"

#include <math.h>

struct km_bounded {
    km_block *block;
    km_search search;
    km_group_lows lows;
    /* For each point of the block. */
    size_t *which;    /* its number in the bounds */
    double *own_best; /* its squared distance from its guess */
    float *reaches;   /* an upper bound of its distance from its guess */
    /* A panel of gathered points. */
    uint32_t *list;      /* points that can't leave out a group */
    uint8_t *gathered;   /* their codes */
    unsigned char *data; /* the panel */
    uint32_t corrections[KM_TILE_POINTS];
    float halves[KM_TILE_POINTS], code_norms[KM_TILE_POINTS], code_rests[KM_TILE_POINTS],
        slacks[KM_TILE_POINTS], bounds[KM_TILE_POINTS];
};

void km_bounded_free(km_bounded *bounded) {
    if (!bounded)
        return;
    km_search_free(&bounded->search);
    free(bounded->which);
    free(bounded->own_best);
    free(bounded->reaches);
    free(bounded->list);
    free(bounded->gathered);
    free(bounded->data);
    free(bounded);
}

km_bounded *km_bounded_create(km_block *block, size_t points) {
    const km_quantised *centroids = block->centroids;
    const km_kernel *kernel = centroids->kernel;
    km_bounded *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->block = block;
    made->which = km_allocate(points, sizeof *made->which);
    made->own_best = km_allocate(points, sizeof *made->own_best);
    made->reaches = km_allocate(points, sizeof *made->reaches);
    made->list = km_allocate(points, sizeof *made->list);
    made->gathered = km_allocate(kernel->points, centroids->dim);
    made->data = km_allocate(1, block->panel_bytes);
    for (size_t i = 0; i < KM_BOUND_GROUPS * KM_TILE_POINTS; i++)
        made->lows.lows[i] = INFINITY;
    if (made->which && made->own_best && made->reaches && made->list && made->gathered &&
        made->data && km_search_create(block, &made->lows, &made->search))
        return made;
    km_bounded_free(made);
    return NULL;
}

km_search *km_bounded_search(km_bounded *bounded) {
    return &bounded->search;
}

static uint16_t *bound_at(const km_bounded *this, size_t group, size_t point) {
    const km_group_bounds *bounds = this->block->centroids->bounds;
    return &bounds->lower[group * bounds->rows + this->which[point]];
}

/*
 * Stores the bounds that the last comparisons of PANEL gave for GROUP. If FRESH, they replace the
 * stored bounds; else they can only lower them.
 */
static void store_bounds(km_bounded *this, const km_quantised_panel *panel, size_t group,
                         bool fresh) {
    const km_quantised *centroids = this->block->centroids;
    float *lows = this->lows.lows + group * centroids->kernel->points, squares[KM_TILE_POINTS];
    uint16_t found[KM_TILE_POINTS];
    for (size_t at = 0; at < panel->n; at++)
        squares[at] = this->block->squares[panel->numbers[at]];
    km_distance_bounds(lows, squares, panel->halves, panel->n, km_norm_factor(centroids->dim) - 1,
                       centroids->bounds->drifts[group], found);
    for (size_t at = 0; at < panel->n; at++) {
        uint16_t *bound = bound_at(this, group, panel->numbers[at]);
        *bound = fresh || found[at] < *bound ? found[at] : *bound;
    }
    for (size_t at = 0; at < centroids->kernel->points; at++)
        lows[at] = INFINITY;
    this->lows.touched[group] = false;
}

void km_bounded_store(km_bounded *this, const km_quantised_panel *panel) {
    for (size_t group = 0; group < this->block->centroids->bounds->groups; group++)
        if (this->lows.touched[group])
            store_bounds(this, panel, group, false);
}

/* Prepares the bounds of a block of N points of the query, from number FIRST on. */
static void prepare_bounds(km_bounded *this, const km_query *query, size_t first, size_t n) {
    const km_group_bounds *bounds = this->block->centroids->bounds;
    for (size_t i = 0; i < n; i++) {
        this->which[i] = km_query_number(query, first + i);
        this->own_best[i] = this->block->best[i];
        this->reaches[i] = (float)(sqrt(this->block->best[i]) * (1 + 0x1p-20));
    }
    for (size_t group = 0; group < bounds->groups; group++)
        for (size_t i = 0; bounds->whole[group] && i < n; i++)
            *bound_at(this, group, i) = KM_NO_BOUND;
}

/*
 * Lists the points, among the N points of a block, for which GROUP can't be left out. Returns their
 * number.
 */
static size_t list_points(const km_bounded *this, size_t group, size_t n) {
    const float drift = this->block->centroids->bounds->drifts[group];
    size_t listed = 0;
    for (size_t i = 0; i < n; i++) {
        float bound = km_bound_value(*bound_at(this, group, i));
        this->list[listed] = (uint32_t)i;
        listed += bound <= (this->reaches[i] + drift) * (1 + 0x1p-20F);
    }
    return listed;
}

/* Packs N points, whose numbers in the block are NUMBERS, to a panel. */
static km_quantised_panel gather_points(km_bounded *to, const uint32_t *numbers, size_t n) {
    const km_block *from = to->block;
    const km_kernel *kernel = from->centroids->kernel;
    const size_t dim = from->centroids->dim;
    for (size_t at = 0; at < kernel->points; at++) {
        size_t i = numbers[at < n ? at : 0];
        if (at < n)
            memcpy(to->gathered + at * dim, from->code_rows[i], dim);
        to->halves[at] = from->halves[i];
        to->code_norms[at] = from->code_norms[i];
        to->code_rests[at] = from->code_rests[i];
        to->slacks[at] = from->slacks[i];
        to->bounds[at] = at < n ? from->bounds[i] : -INFINITY;
    }
    kernel->pack(to->gathered, n, dim, to->data, to->corrections);
    return (km_quantised_panel){.data = to->data,
                                .n = n,
                                .numbers = numbers,
                                .halves = to->halves,
                                .code_norms = to->code_norms,
                                .code_rests = to->code_rests,
                                .slacks = to->slacks,
                                .bounds = to->bounds};
}

/*
 * Finds the points, among the N points of a block, for which GROUP can't be left out, and compares
 * them with the panels of GROUP.
 */
static void search_group(km_bounded *this, size_t group, size_t n) {
    const km_quantised *centroids = this->block->centroids;
    const size_t step = centroids->kernel->points, listed = list_points(this, group, n);
    float *bounds = this->block->bounds;
    for (size_t at = 0; at < listed; at += step) {
        const km_quantised_panel panel =
            gather_points(this, this->list + at, km_smaller(listed - at, step));
        km_search_panels(&this->search, &panel, centroids->starts[group],
                         centroids->starts[group + 1]);
        for (size_t i = 0; i < panel.n; i++)
            bounds[panel.numbers[i]] = fminf(panel.bounds[i], bounds[panel.numbers[i]]);
        store_bounds(this, &panel, group, true);
    }
}

void km_bounded_begin(km_bounded *this, const km_query *query, size_t first, size_t n) {
    const km_quantised *centroids = this->block->centroids;
    prepare_bounds(this, query, first, n);
    for (size_t group = 0; group < centroids->bounds->groups; group++)
        if (centroids->starts[group] < centroids->starts[group + 1])
            search_group(this, group, n);
}

void km_bounded_end(km_bounded *this, size_t n) {
    const km_quantised *centroids = this->block->centroids;
    const km_group_bounds *bounds = centroids->bounds;
    for (size_t i = 0; i < n; i++) {
        uint32_t own = this->block->own[i];
        if (own == KM_NO_CENTROID || own == this->block->nearest[i])
            continue;
        /*
         * The search skipped the guess, so the bound of the guess's group does not cover the guess.
         * As the guess is no longer the nearest centroid, lower the bound to the guess's distance.
         */
        size_t group = bounds->group[own];
        double distance = sqrt(this->own_best[i]) + (double)bounds->drifts[group];
        uint16_t *bound = bound_at(this, group, i),
                 stored = km_bound_store((float)(distance * (1 - 0x1p-20)));
        *bound = stored < *bound ? stored : *bound;
    }
}
