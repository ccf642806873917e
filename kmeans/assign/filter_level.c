/* SPDX-License-Identifier: BSD-3-Clause */
#include "kmeans/assign/filter_level.h"

#include "kmeans/points/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t panel_bytes(const km_kernel *kernel, size_t groups, size_t rows) {
    return groups * kernel->group * kernel->element * rows;
}

static size_t panels_of(const km_packed *of) {
    return km_quotient_up(of->k, of->kernel->centroids);
}

/* Packs the axes in centroid layout, so that a kernel can multiply a panel of points by them. */
static bool pack_axes(km_filter_level *level) {
    const km_kernel *kernel = level->of->kernel;
    size_t step = kernel->centroids, dim = level->of->dim, rows = level->projection->count + 1;
    uint32_t norms[KM_TILE_CENTROIDS]; /* unused */
    level->axes_groups = km_quotient_up(dim, kernel->group);
    level->axes_panels = km_quotient_up(rows, step);
    level->axes_panel_bytes = panel_bytes(kernel, level->axes_groups, step);
    level->axes = km_allocate(level->axes_panels, level->axes_panel_bytes);
    for (size_t j = 0; level->axes && j < rows; j += step)
        kernel->pack_centroids(kernel, level->projection->axes + j * dim,
                               rows - j < step ? rows - j : step, dim,
                               level->axes + j / step * level->axes_panel_bytes, norms);
    for (size_t j = 0; j < rows; j++)
        for (size_t d = 0; d < dim; d++)
            level->axes_sums[j] += level->projection->axes[j * dim + d] - 128;
    return level->axes;
}

/* Computes the products of a panel of points with the axes, axis after axis. */
enum { AXIS_SUMS = (KM_AXES + 1 + KM_TILE_CENTROIDS) * KM_TILE_POINTS };
static void multiply_axes(const km_filter_level *level, const void *panel,
                          int32_t sums[AXIS_SUMS]) {
    const km_kernel *kernel = level->of->kernel;
    for (size_t i = 0; i < level->axes_panels; i++)
        kernel->multiply(panel, level->axes + i * level->axes_panel_bytes, level->axes_groups,
                         sums + i * kernel->points * kernel->centroids);
}

/* A thread's scratch memory for sketching centroids, which are packed in point layout for this. */
typedef struct sketch_scratch {
    unsigned char *panel;
    int32_t sums[AXIS_SUMS];        /* the centroids' products with the axes */
    int32_t second_sums[AXIS_SUMS]; /* products of the second plane of fixed-point centroids */
} sketch_scratch;

static void sketch_scratch_free(sketch_scratch *space) {
    if (space)
        free(space->panel);
    free(space);
}

static sketch_scratch *sketch_scratch_create(const km_filter_level *level) {
    const km_kernel *kernel = level->of->kernel;
    sketch_scratch *space = calloc(1, sizeof *space);
    if (space &&
        (space->panel = km_allocate(1, panel_bytes(kernel, level->axes_groups, kernel->points))))
        return space;
    sketch_scratch_free(space);
    return NULL;
}

/* Adds the second plane's rounded contribution to the sums of N centroids from number FIRST on. */
static void add_fraction_sums(const km_filter_level *level, sketch_scratch *space, size_t first,
                              size_t n) {
    const km_kernel *kernel = level->of->kernel;
    uint32_t corrections[KM_TILE_POINTS]; /* unused */
    kernel->pack(km_plane_row(&level->of->fixed_point->planes, 1, first), n, level->of->dim,
                 space->panel, corrections);
    multiply_axes(level, space->panel, space->second_sums);
    for (size_t j = 0; j < level->projection->count + 1; j++)
        for (size_t i = j * kernel->points; i < (j + 1) * kernel->points; i++)
            space->sums[i] += (space->second_sums[i] - 128 * level->axes_sums[j] + 128) >> 8;
}

/*
 * Returns an upper bound of the additional error in the sketch of fixed-point centroid J:
 * add_fraction_sums rounds the second plane and omits the third.
 */
static float fraction_error(const km_filter_level *level, size_t j) {
    float half = 0.5F * level->projection->scale,
          all = half * sqrtf((float)level->projection->count);
    return all * 1.0001F + level->stretch * level->of->fixed_point->errors[1][j] * 1.0001F;
}

/* Computes |x - mean|^2 for a panel of rows of bytes, from their products with the axes. */
static void find_deviations(const km_filter_level *level, const int32_t *sums,
                            const uint32_t *corrections, float *deviations2) {
    size_t points = level->of->kernel->points;
    for (size_t i = 0; i < points; i++)
        deviations2[i] = km_projection_deviation2(level->projection, corrections[i],
                                                  sums[level->projection->count * points + i]);
}

/* Does the same for N fixed-point centroids from number FIRST on, using their first two planes. */
static void find_fixed_point_deviations(const km_filter_level *level, size_t first, size_t n,
                                        float *deviations2) {
    const km_packed *of = level->of;
    const uint8_t *mean = level->projection->axes + level->projection->count * of->dim;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *h = km_plane_row(&of->fixed_point->planes, 0, first + i);
        const uint8_t *a = km_plane_row(&of->fixed_point->planes, 1, first + i);
        uint64_t sum = 0;
        for (size_t d = 0; d < of->dim; d++) {
            int32_t way = (h[d] - mean[d]) * 256 + a[d] - 128;
            sum += (uint32_t)way * (uint32_t)way;
        }
        deviations2[i] = (float)sum / (1 << 16);
    }
}

/* Makes the sketches of a panel of N centroids from number FIRST on. */
static void sketch_panel(km_filter_level *level, sketch_scratch *space, size_t first, size_t n) {
    const km_packed *of = level->of;
    uint8_t bytes[KM_TILE_POINTS * KM_SKETCH];
    uint32_t corrections[KM_TILE_POINTS];
    float deviations2[KM_TILE_POINTS], errors[KM_TILE_POINTS];
    of->kernel->pack(of->rows + first * of->dim, n, of->dim, space->panel, corrections);
    multiply_axes(level, space->panel, space->sums);
    find_deviations(level, space->sums, corrections, deviations2);
    if (of->fixed_point) {
        add_fraction_sums(level, space, first, n);
        find_fixed_point_deviations(level, first, n, deviations2);
    }
    km_projection_sketch(level->projection, space->sums, deviations2, of->kernel->points, bytes,
                         errors);
    memcpy(level->bytes + first * level->projection->numbers, bytes,
           n * level->projection->numbers);
    for (size_t i = 0; i < n; i++)
        level->errors[first + i] =
            errors[i] + (of->fixed_point ? fraction_error(level, first + i) : 0);
}

static int sketch_all(km_filter_level *level, int threads) {
    size_t step = level->of->kernel->points, k = level->of->k;
    int error = 0;
#pragma omp parallel num_threads(threads) reduction(| : error)
    {
        sketch_scratch *space = sketch_scratch_create(level);
        error = space ? 0 : ENOMEM;
#pragma omp for schedule(static)
        for (size_t first = 0; first < k; first += step)
            if (space)
                sketch_panel(level, space, first, k - first < step ? k - first : step);
        sketch_scratch_free(space);
    }
    return error;
}

int km_filter_level_project(km_filter_level *level, const km_packed *of,
                            const km_projection *projection, int threads) {
    *level = (km_filter_level){.of = of,
                               .projection = projection,
                               .stretch = projection->stretch,
                               .out_of_reach = 1 << 14,
                               .groups = km_quotient_up(projection->numbers, of->kernel->group),
                               .bytes = km_allocate(of->k, projection->numbers),
                               .errors = km_allocate(of->k, sizeof *level->errors)};
    return level->bytes && level->errors && pack_axes(level) ? sketch_all(level, threads) : ENOMEM;
}

static bool allocate_starts(km_filter_level *level) {
    const km_packed *of = level->of;
    level->panel_bytes = panel_bytes(of->kernel, level->groups, of->kernel->centroids);
    level->starts = km_allocate(panels_of(of), of->kernel->centroids * sizeof *level->starts);
    return level->starts;
}

static void pack_panel(const km_filter_level *level, const uint32_t *order, size_t panel) {
    const km_packed *of = level->of;
    size_t step = of->kernel->centroids, first = panel * step, size = level->projection->numbers;
    size_t n = of->k - first < step ? of->k - first : step;
    uint8_t bytes[KM_TILE_CENTROIDS * KM_SKETCH];
    for (size_t j = 0; j < n; j++)
        memcpy(bytes + j * size, level->bytes + order[first + j] * size, size);
    of->kernel->pack_centroids(of->kernel, bytes, n, size,
                               level->packed + panel * level->panel_bytes,
                               level->packed_norms + first);
}

static void find_slack(km_filter_level *level, const float *errors) {
    level->slack = 0;
    for (size_t j = 0; j < level->of->k; j++)
        level->slack = fmaxf(level->slack, errors[j]);
}

static void free_bytes(km_filter_level *level) {
    free(level->bytes);
    free(level->errors);
    level->bytes = NULL;
    level->errors = NULL;
}

int km_filter_level_pack(km_filter_level *level, const uint32_t *order) {
    const km_packed *of = level->of;
    if (!allocate_starts(level))
        return ENOMEM;
    level->packed = km_allocate(panels_of(of), level->panel_bytes);
    level->packed_norms =
        km_allocate(panels_of(of), of->kernel->centroids * sizeof *level->packed_norms);
    if (!level->packed || !level->packed_norms)
        return ENOMEM;
    for (size_t panel = 0; panel < panels_of(of); panel++)
        pack_panel(level, order, panel);
    find_slack(level, level->errors);
    level->data = level->packed;
    level->norms = level->packed_norms;
    for (size_t j = 0; j < panels_of(of) * of->kernel->centroids; j++)
        level->starts[j] = -(int32_t)(level->norms[j] / 2);
    free_bytes(level);
    return 0;
}

int km_filter_level_from_rows(km_filter_level *level, const km_packed *of, const uint32_t *order) {
    *level = (km_filter_level){.of = of,
                               .stretch = 1,
                               .out_of_reach = 256 * sqrtf((float)of->dim),
                               .groups = km_quotient_up(of->dim, of->kernel->group),
                               .data = of->data};
    if (!allocate_starts(level))
        return ENOMEM;
    for (size_t j = 0; j < panels_of(of) * of->kernel->centroids; j++)
        level->starts[j] = -(int32_t)(of->norms[j < of->k ? order[j] : j] / 2);
    if (of->fixed_point)
        find_slack(level, of->fixed_point->errors[0]);
    return 0;
}

void km_filter_level_free(km_filter_level *level) {
    free_bytes(level);
    free(level->starts);
    free(level->packed);
    free(level->packed_norms);
    free(level->axes);
    *level = (km_filter_level){.of = NULL};
}

void km_filter_level_sketch_points(const km_filter_level *level, const void *panel,
                                   const uint32_t *corrections,
                                   uint8_t bytes[KM_TILE_POINTS * KM_SKETCH], float *errors) {
    int32_t sums[AXIS_SUMS];
    float deviations2[KM_TILE_POINTS];
    multiply_axes(level, panel, sums);
    find_deviations(level, sums, corrections, deviations2);
    km_projection_sketch(level->projection, sums, deviations2, level->of->kernel->points, bytes,
                         errors);
}
