/* SPDX-License-Identifier: BSD-3-Clause */
/* Quantises centroids and packs them to panels. */
#include "kmeans/assign/quantised_centroids.h"

#include "kmeans/assign/vectors.h"
#include "kmeans/points/memory.h"

#include <errno.h>
#include <math.h>

enum {
    CENTROID_BYTES = 1 << 18, /* bytes of the centroids with which a block of points is compared at
                                 a time; they fit a second-level cache with room to spare */
    CENTROID_RANGE = 127,     /* codes of centroids lie between -127 and 127 */
    CENTROID_OFFSET = 128
};

/* Sets MEAN to the mean of CACHE, or of the centroids if CACHE is NULL. */
static bool set_mean(const km_code_cache *cache, const float *rows, size_t k, size_t dim,
                     float *mean) {
    if (cache) {
        memcpy(mean, cache->mean, dim * sizeof *mean);
        return true;
    }
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
    return fmaxf(scale, km_least_scale);
}

/* Quantises the centroid at position J of the order to CODES. */
static void quantise_centroid(km_quantised *this, size_t j, uint8_t *codes) {
    if (this->order[j] == KM_NO_CENTROID) {
        memset(codes, CENTROID_OFFSET, this->dim);
        this->squares[j] = NAN; /* no comparison is true */
        return;
    }
    const float *row = this->rows + this->order[j] * this->dim, factor = km_norm_factor(this->dim);
    float deviation = km_largest_deviation(row, this->mean, this->dim);
    if (!(deviation <= km_largest)) {
        memset(codes, CENTROID_OFFSET, this->dim);
        this->squares[j] = 0;
        this->scales[j] = 1;
        this->norms[j] = INFINITY;
        return;
    }
    float scale = centroid_scale(this, row, deviation);
    km_quantum sums = km_quantise(row, this->mean, this->dim, scale, CENTROID_OFFSET, codes);
    this->scales[j] = scale;
    this->norms[j] = sqrtf(this->squares[j]) * factor + km_vanished;
    this->rests[j] = sqrtf(sums.rests2) * factor + km_slack * this->norms[j] + km_vanished;
    this->bases[j] = sums.codes * (this->kernel->range + 1);
}

/* Quantises and packs the centroids of a panel. CODES has room for them. */
static void make_panel(km_quantised *this, size_t panel, uint8_t *codes) {
    const km_kernel *kernel = this->kernel;
    size_t first = panel * kernel->centroids, n = kernel->centroids;
    uint32_t norms[KM_TILE_CENTROIDS]; /* unused */
    for (size_t j = 0; j < n; j++) {
        quantise_centroid(this, first + j, codes + j * this->dim);
        this->panel_norms[panel] = fmaxf(this->panel_norms[panel], this->norms[first + j]);
        this->panel_rests[panel] = fmaxf(this->panel_rests[panel], this->rests[first + j]);
    }
    kernel->pack_centroids(kernel, codes, n, this->dim, this->data + panel * this->panel_bytes,
                           norms);
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
                        km_group_bounds *bounds, km_code_cache *cache, int threads,
                        km_quantised **centroids) {
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
                           .cache = cache,
                           .starts = km_allocate(KM_BOUND_GROUPS + 1, sizeof *made->starts),
                           .mean = km_allocate(dim, sizeof *made->mean),
                           .positions = km_allocate(k, sizeof *made->positions)};
    made->panel_bytes = made->groups * kernel->group * kernel->element * kernel->centroids;
    made->cached = km_larger(CENTROID_BYTES / made->panel_bytes, 1);
    int error = ENOMEM;
    if (made->starts && made->mean && made->positions &&
        set_mean(cache, rows, k, dim, made->mean) && km_quantised_arrange(made))
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
