/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of quantised centroids. Without bounds they are sorted by |e|. With bounds the order
 * is: first the centroids of groups that can be left out; then the groups that are compared as a
 * whole; last the centroids that moved and are compared with all points. Each of these three kinds
 * is ordered by group, and within a group by |e|.
 */
#include "kmeans/assign/quantised_centroids.h"

#include "kmeans/points/memory.h"

#include <stdlib.h>
#include <string.h>

static double deviation2(const float *row, const float *mean, size_t dim) {
    double sum = 0;
    for (size_t d = 0; d < dim; d++) {
        double deviation = (double)row[d] - (double)mean[d];
        sum += deviation * deviation;
    }
    return sum;
}

static void *allocate_zeros(size_t count, size_t bytes) {
    void *made = km_allocate(count, bytes);
    if (made)
        memset(made, 0, count * bytes);
    return made;
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
        keys[j] = (norm_key){(float)deviation2(row, this->mean, this->dim), (uint32_t)j};
    }
    if (keys)
        qsort(keys, this->k, sizeof *keys, compare_norms);
    return keys;
}

/*
 * Returns the part of the order to which a centroid belongs. There is a part for each group that
 * can be left out, then one for each group that is compared as a whole, and then one for each
 * group's centroids that moved.
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
 * Sets STARTS to the position at which each part begins. A part begins in a new panel, unless both
 * this part and the part before it have centroids that moved. The last number of STARTS is the end
 * of the last part. COUNTS are the numbers of centroids in the parts.
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
        this->ends[j] = (uint32_t)km_smaller(end, to);
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

/*
 * Arranges the centroids of KEYS. COUNTS has a zero for each part, and STARTS has room for one
 * number more than COUNTS.
 */
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
        /* The segments extend to the next part, including positions without a centroid. */
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

bool km_quantised_arrange(km_quantised *this) {
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
