/*
 * The kernel for real features: a tile is 240 points times 240 centroids, whose scalar products are
 * one matrix product by OpenBLAS (sgemm). The score |c|^2 - 2 x.c is rounded to float32.
 *
 * The tile has always the same size, missing rows being zero, and one that the inner blocks of
 * OpenBLAS (16 or 48 by 12 or 24 for x86-64) divide, for at edges it rounds in another order. So it
 * does the same work for every pair of a point and a centroid, and a score does not depend on where
 * in the tile they are. That holds on one kind of processor, with one version and core type of
 * OpenBLAS; a test checks it.
 */
#include "config.h"

#include "kmeans/kernels.h"

#ifdef HAVE_OPENBLAS

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { POINTS = 240, CENTROIDS = 240 };

static bool supported(void) {
    return true;
}

static uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A number that orders as VALUE does, which is not NaN; below KM_NO_SCORE. */
static uint32_t order_of(float value) {
    uint32_t bits = bits_of(value), sign = UINT32_C(1) << 31;
    return bits & sign ? ~bits : bits | sign;
}

/* The rows of a panel, and zeros for missing ones. */
static void pack_rows(const uint8_t *rows, size_t n, size_t dim, size_t most, void *panel) {
    memcpy(panel, rows, n * dim * sizeof(float));
    memset((float *)panel + n * dim, 0, (most - n) * dim * sizeof(float));
}

static void pack(const uint8_t *rows, size_t n, size_t dim, void *panel, uint32_t *corrections) {
    pack_rows(rows, n, dim, POINTS, panel);
    memset(corrections, 0, POINTS * sizeof *corrections); /* distance needs none */
}

static void pack_centroids(const km_kernel *kernel, const uint8_t *rows, size_t n, size_t dim,
                           void *panel, uint32_t *norms) {
    (void)kernel;
    pack_rows(rows, n, dim, CENTROIDS, panel);
    for (size_t j = 0; j < CENTROIDS; j++) {
        const float *centroid = (const float *)panel + j * dim;
        double sum = 0;
        for (size_t d = 0; d < dim; d++)
            sum += (double)centroid[d] * centroid[d];
        norms[j] = bits_of(j < n ? (float)sum : INFINITY);
    }
}

/* Turns the products of one point into scores; the least goes to *LEAST, its place is returned. */
static size_t least_score(const float *norms, float *products, float *least) {
    float lowest = INFINITY;
    size_t at = 0;
#pragma omp simd reduction(min : lowest)
    for (size_t j = 0; j < CENTROIDS; j++) {
        products[j] = norms[j] - 2 * products[j];
        lowest = products[j] < lowest ? products[j] : lowest;
    }
    while (products[at] > lowest)
        at++;
    *least = lowest;
    return at;
}

static void tile(const void *points, const void *centroids, const uint32_t *norms, size_t groups,
                 uint32_t first, uint32_t *best, uint32_t *nearest, void *scratch) {
    float *products = scratch;
    int dim = (int)groups;
    float real_norms[CENTROIDS];
    memcpy(real_norms, norms, sizeof real_norms);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, POINTS, CENTROIDS, dim, 1, points, dim,
                centroids, dim, 0, products, CENTROIDS);
    for (size_t i = 0; i < POINTS; i++, products += CENTROIDS) {
        float least;
        size_t at = least_score(real_norms, products, &least);
        if (order_of(least) >= best[i])
            continue;
        best[i] = order_of(least);
        nearest[i] = first + (uint32_t)at;
    }
}

/* In double, from the differences: exactly 0 for equal rows, and no digits lost for near ones. */
static uint32_t distance(const void *point, const void *centroid, size_t dim) {
    const float *x = point, *c = centroid;
    double sum = 0;
    for (size_t d = 0; d < dim; d++)
        sum += ((double)x[d] - c[d]) * ((double)x[d] - c[d]);
    return bits_of((float)sum);
}

static const km_kernel km_kernel_openblas = {
    .name = "openblas",
    .instruction = "sgemm",
    .points = POINTS,
    .centroids = CENTROIDS,
    .group = 1,
    .element = sizeof(float),
    .real = true,
    .scratch = POINTS * CENTROIDS * sizeof(float),
    .supported = supported,
    .pack = pack,
    .pack_centroids = pack_centroids,
    .tile = tile,
    .distance = distance,
};

/* Threads are ours: each multiplies its own blocks. */
const km_kernel *km_kernel_real(void) {
    openblas_set_num_threads(1);
    return &km_kernel_openblas;
}

const char *km_core_type(void) {
    return openblas_get_corename();
}

#else

const km_kernel *km_kernel_real(void) {
    return NULL;
}

const char *km_core_type(void) {
    return NULL;
}

#endif
