#include "kmeans/assign/mesh.h"

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
static bool pack_axes(km_mesh *mesh) {
    const km_kernel *kernel = mesh->of->kernel;
    size_t step = kernel->centroids, dim = mesh->of->dim, rows = mesh->sketch->count + 1;
    uint32_t norms[KM_TILE_CENTROIDS]; /* unused */
    mesh->axes_groups = km_quotient_up(dim, kernel->group);
    mesh->axes_panels = km_quotient_up(rows, step);
    mesh->axes_panel_bytes = panel_bytes(kernel, mesh->axes_groups, step);
    mesh->axes = km_allocate(mesh->axes_panels, mesh->axes_panel_bytes);
    for (size_t j = 0; mesh->axes && j < rows; j += step)
        kernel->pack_centroids(kernel, mesh->sketch->axes + j * dim,
                               rows - j < step ? rows - j : step, dim,
                               mesh->axes + j / step * mesh->axes_panel_bytes, norms);
    for (size_t j = 0; j < rows; j++)
        for (size_t d = 0; d < dim; d++)
            mesh->axes_sums[j] += mesh->sketch->axes[j * dim + d] - 128;
    return mesh->axes;
}

/* Computes the products of a panel of points with the axes, axis after axis. */
enum { AXIS_SUMS = (KM_AXES + 1 + KM_TILE_CENTROIDS) * KM_TILE_POINTS };
static void multiply_axes(const km_mesh *mesh, const void *panel, int32_t sums[AXIS_SUMS]) {
    const km_kernel *kernel = mesh->of->kernel;
    for (size_t i = 0; i < mesh->axes_panels; i++)
        kernel->multiply(panel, mesh->axes + i * mesh->axes_panel_bytes, mesh->axes_groups,
                         sums + i * kernel->points * kernel->centroids);
}

/* A thread's scratch memory for sketching centroids, which are packed in point layout for this. */
typedef struct sketch_scratch {
    unsigned char *panel;
    int32_t sums[AXIS_SUMS];        /* the centroids' products with the axes */
    int32_t second_sums[AXIS_SUMS]; /* those of fine centroids' second plane */
} sketch_scratch;

static void sketch_scratch_free(sketch_scratch *space) {
    if (space)
        free(space->panel);
    free(space);
}

static sketch_scratch *sketch_scratch_create(const km_mesh *mesh) {
    const km_kernel *kernel = mesh->of->kernel;
    sketch_scratch *space = calloc(1, sizeof *space);
    if (space &&
        (space->panel = km_allocate(1, panel_bytes(kernel, mesh->axes_groups, kernel->points))))
        return space;
    sketch_scratch_free(space);
    return NULL;
}

/* Adds the second plane's rounded contribution to the sums of N centroids from number FIRST on. */
static void add_fine_sums(const km_mesh *mesh, sketch_scratch *space, size_t first, size_t n) {
    const km_kernel *kernel = mesh->of->kernel;
    uint32_t corrections[KM_TILE_POINTS]; /* unused */
    kernel->pack(km_plane_row(&mesh->of->fine->planes, 1, first), n, mesh->of->dim, space->panel,
                 corrections);
    multiply_axes(mesh, space->panel, space->second_sums);
    for (size_t j = 0; j < mesh->sketch->count + 1; j++)
        for (size_t i = j * kernel->points; i < (j + 1) * kernel->points; i++)
            space->sums[i] += (space->second_sums[i] - 128 * mesh->axes_sums[j] + 128) >> 8;
}

/*
 * Bounds the additional error of fine centroid J's sketch: add_fine_sums rounds the second plane
 * and omits the third.
 */
static float fine_error(const km_mesh *mesh, size_t j) {
    float half = 0.5F * mesh->sketch->scale, all = half * sqrtf((float)mesh->sketch->count);
    return all * 1.0001F + mesh->stretch * mesh->of->fine->errors[1][j] * 1.0001F;
}

/* Computes |x - mean|^2 for a panel of rows of bytes, from their products with the axes. */
static void find_deviations(const km_mesh *mesh, const int32_t *sums, const uint32_t *corrections,
                            float *deviations2) {
    size_t points = mesh->of->kernel->points;
    for (size_t i = 0; i < points; i++)
        deviations2[i] = km_sketch_deviation2(mesh->sketch, corrections[i],
                                              sums[mesh->sketch->count * points + i]);
}

/* Does the same for N fine centroids from number FIRST on, from their first two planes. */
static void find_fine_deviations(const km_mesh *mesh, size_t first, size_t n, float *deviations2) {
    const km_packed *of = mesh->of;
    const uint8_t *mean = mesh->sketch->axes + mesh->sketch->count * of->dim;
    for (size_t i = 0; i < n; i++) {
        const uint8_t *h = km_plane_row(&of->fine->planes, 0, first + i);
        const uint8_t *a = km_plane_row(&of->fine->planes, 1, first + i);
        uint64_t sum = 0;
        for (size_t d = 0; d < of->dim; d++) {
            int32_t way = (h[d] - mean[d]) * 256 + a[d] - 128;
            sum += (uint32_t)way * (uint32_t)way;
        }
        deviations2[i] = (float)sum / (1 << 16);
    }
}

/* Makes the sketches of a panel of N centroids from number FIRST on. */
static void sketch_panel(km_mesh *mesh, sketch_scratch *space, size_t first, size_t n) {
    const km_packed *of = mesh->of;
    uint8_t bytes[KM_TILE_POINTS * KM_SKETCH];
    uint32_t corrections[KM_TILE_POINTS];
    float deviations2[KM_TILE_POINTS], errors[KM_TILE_POINTS];
    of->kernel->pack(of->rows + first * of->dim, n, of->dim, space->panel, corrections);
    multiply_axes(mesh, space->panel, space->sums);
    find_deviations(mesh, space->sums, corrections, deviations2);
    if (of->fine) {
        add_fine_sums(mesh, space, first, n);
        find_fine_deviations(mesh, first, n, deviations2);
    }
    km_sketch_round(mesh->sketch, space->sums, deviations2, of->kernel->points, bytes, errors);
    memcpy(mesh->bytes + first * mesh->sketch->numbers, bytes, n * mesh->sketch->numbers);
    for (size_t i = 0; i < n; i++)
        mesh->errors[first + i] = errors[i] + (of->fine ? fine_error(mesh, first + i) : 0);
}

static int sketch_all(km_mesh *mesh, int threads) {
    size_t step = mesh->of->kernel->points, k = mesh->of->k;
    int error = 0;
#pragma omp parallel num_threads(threads) reduction(| : error)
    {
        sketch_scratch *space = sketch_scratch_create(mesh);
        error = space ? 0 : ENOMEM;
#pragma omp for schedule(static)
        for (size_t first = 0; first < k; first += step)
            if (space)
                sketch_panel(mesh, space, first, k - first < step ? k - first : step);
        sketch_scratch_free(space);
    }
    return error;
}

int km_mesh_sketch(km_mesh *mesh, const km_packed *of, const km_sketch *sketch, int threads) {
    *mesh = (km_mesh){.of = of,
                      .sketch = sketch,
                      .stretch = sketch->stretch,
                      .out_of_reach = 1 << 14,
                      .groups = km_quotient_up(sketch->numbers, of->kernel->group),
                      .bytes = km_allocate(of->k, sketch->numbers),
                      .errors = km_allocate(of->k, sizeof *mesh->errors)};
    return mesh->bytes && mesh->errors && pack_axes(mesh) ? sketch_all(mesh, threads) : ENOMEM;
}

static bool allocate_starts(km_mesh *mesh) {
    const km_packed *of = mesh->of;
    mesh->panel_bytes = panel_bytes(of->kernel, mesh->groups, of->kernel->centroids);
    mesh->starts = km_allocate(panels_of(of), of->kernel->centroids * sizeof *mesh->starts);
    return mesh->starts;
}

static void pack_panel(const km_mesh *mesh, const uint32_t *order, size_t panel) {
    const km_packed *of = mesh->of;
    size_t step = of->kernel->centroids, first = panel * step, size = mesh->sketch->numbers;
    size_t n = of->k - first < step ? of->k - first : step;
    uint8_t bytes[KM_TILE_CENTROIDS * KM_SKETCH];
    for (size_t j = 0; j < n; j++)
        memcpy(bytes + j * size, mesh->bytes + order[first + j] * size, size);
    of->kernel->pack_centroids(of->kernel, bytes, n, size, mesh->packed + panel * mesh->panel_bytes,
                               mesh->packed_norms + first);
}

static void find_slack(km_mesh *mesh, const float *errors) {
    mesh->slack = 0;
    for (size_t j = 0; j < mesh->of->k; j++)
        mesh->slack = fmaxf(mesh->slack, errors[j]);
}

static void free_bytes(km_mesh *mesh) {
    free(mesh->bytes);
    free(mesh->errors);
    mesh->bytes = NULL;
    mesh->errors = NULL;
}

int km_mesh_pack(km_mesh *mesh, const uint32_t *order) {
    const km_packed *of = mesh->of;
    if (!allocate_starts(mesh))
        return ENOMEM;
    mesh->packed = km_allocate(panels_of(of), mesh->panel_bytes);
    mesh->packed_norms =
        km_allocate(panels_of(of), of->kernel->centroids * sizeof *mesh->packed_norms);
    if (!mesh->packed || !mesh->packed_norms)
        return ENOMEM;
    for (size_t panel = 0; panel < panels_of(of); panel++)
        pack_panel(mesh, order, panel);
    find_slack(mesh, mesh->errors);
    mesh->data = mesh->packed;
    mesh->norms = mesh->packed_norms;
    for (size_t j = 0; j < panels_of(of) * of->kernel->centroids; j++)
        mesh->starts[j] = -(int32_t)(mesh->norms[j] / 2);
    free_bytes(mesh);
    return 0;
}

int km_mesh_rows(km_mesh *mesh, const km_packed *of, const uint32_t *order) {
    *mesh = (km_mesh){.of = of,
                      .stretch = 1,
                      .out_of_reach = 256 * sqrtf((float)of->dim),
                      .groups = km_quotient_up(of->dim, of->kernel->group),
                      .data = of->data};
    if (!allocate_starts(mesh))
        return ENOMEM;
    for (size_t j = 0; j < panels_of(of) * of->kernel->centroids; j++)
        mesh->starts[j] = -(int32_t)(of->norms[j < of->k ? order[j] : j] / 2);
    if (of->fine)
        find_slack(mesh, of->fine->errors[0]);
    return 0;
}

void km_mesh_free(km_mesh *mesh) {
    free_bytes(mesh);
    free(mesh->starts);
    free(mesh->packed);
    free(mesh->packed_norms);
    free(mesh->axes);
    *mesh = (km_mesh){.of = NULL};
}

void km_mesh_take(const km_mesh *mesh, const void *panel, const uint32_t *corrections,
                  uint8_t bytes[KM_TILE_POINTS * KM_SKETCH], float *errors) {
    int32_t sums[AXIS_SUMS];
    float deviations2[KM_TILE_POINTS];
    multiply_axes(mesh, panel, sums);
    find_deviations(mesh, sums, corrections, deviations2);
    km_sketch_round(mesh->sketch, sums, deviations2, mesh->of->kernel->points, bytes, errors);
}
