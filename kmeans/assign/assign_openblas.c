/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel for real features: a tile is 240 points times 240 centroids. OpenBLAS computes all its
 * scalar products as one matrix product (sgemm).
 *
 * With some core types of OpenBLAS, rounding depends on the place in the tile. So the scores
 * |c|^2 - 2 x.c only select the centroids that may be nearest: those whose score is within twice
 * the error bound of the least one, mostly a single one. The nearest of these is chosen by
 * distances that are summed in double precision, always in the same order. So the result depends
 * neither on where in a tile a point or a centroid is, nor on the core type.
 *
 * The bound: a scalar product of n terms in float32, added in any order, has an error of at most n
 * u |x| |c| / (1 - n u), u = 2^-24 (Higham, Accuracy and Stability of Numerical Algorithms, 2002,
 * eq. 3.5); a score has one of at most (n / 2 + 4) u (|x| + |c|)^2, which includes the rounding of
 * its norm and its own.
 */
#include "config.h"

#include "kmeans/assign/kernel.h"

#ifdef HAVE_OPENBLAS

#include "kmeans/points/real.h"

#include <cblas.h>
#include <float.h>
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

static double value_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static double norm2(const float *row, size_t dim) {
    double sum = 0;
    for (size_t d = 0; d < dim; d++)
        sum += (double)row[d] * (double)row[d];
    return sum;
}

/* Copies rows to a panel and zeros the missing ones. */
static void pack_rows(const uint8_t *rows, size_t n, size_t dim, size_t most, void *panel) {
    memcpy(panel, rows, n * dim * sizeof(float));
    memset((float *)panel + n * dim, 0, (most - n) * dim * sizeof(float));
}

/* Marks missing points by an infinite |x|^2. */
static void pack(const uint8_t *rows, size_t n, size_t dim, void *panel, uint32_t *corrections) {
    pack_rows(rows, n, dim, POINTS, panel);
    for (size_t i = 0; i < POINTS; i++)
        corrections[i] =
            bits_of(i < n ? (float)norm2((const float *)panel + i * dim, dim) : INFINITY);
}

static void pack_centroids(const km_kernel *kernel, const uint8_t *rows, size_t n, size_t dim,
                           void *panel, uint32_t *norms) {
    (void)kernel;
    pack_rows(rows, n, dim, CENTROIDS, panel);
    for (size_t j = 0; j < CENTROIDS; j++)
        norms[j] = bits_of(j < n ? (float)norm2((const float *)panel + j * dim, dim) : INFINITY);
}

static double largest_norm(const float *norms) {
    float largest = 0;
    for (size_t j = 0; j < CENTROIDS; j++)
        largest = norms[j] > largest && norms[j] < INFINITY ? norms[j] : largest;
    return sqrt((double)largest);
}

/* Turns the products of one point into scores and returns the least. */
static float make_scores(const float *norms, float *products) {
    float least = INFINITY;
#pragma omp simd reduction(min : least)
    for (size_t j = 0; j < CENTROIDS; j++) {
        products[j] = norms[j] - 2 * products[j];
        least = products[j] < least ? products[j] : least;
    }
    return least;
}

/*
 * Returns by how much the score of the nearest centroid may exceed the least score; the norms of
 * point and centroid add up to REACH at most. It is twice the error bound, with a reserve for other
 * values rounded to float32 (distances, |x|^2) and for underflow.
 */
static double score_margin(size_t dim, double reach) {
    return ((double)dim + 16) * (double)FLT_EPSILON * reach * reach + (double)FLT_MIN;
}

/*
 * Compares point X with those centroids C whose SCORES are MOST at most; lowers *BEST and sets
 * *NEAREST.
 */
static void compare_candidates(const float *x, const float *c, size_t dim, const float *scores,
                               double most, uint32_t first, uint32_t *best, uint32_t *nearest) {
    for (size_t j = 0; j < CENTROIDS; j++) {
        if ((double)scores[j] > most)
            continue;
        uint32_t distance = bits_of((float)km_real_distance2(x, c + j * dim, dim));
        if (distance >= *best)
            continue;
        *best = distance;
        *nearest = first + (uint32_t)j;
    }
}

static void tile(const void *points, const uint32_t *corrections, const void *centroids,
                 const uint32_t *norms, size_t groups, uint32_t first, uint32_t *best,
                 uint32_t *nearest, void *scratch) {
    const float *x = points, *c = centroids;
    float *scores = scratch, real_norms[CENTROIDS];
    int dim = (int)groups;
    memcpy(real_norms, norms, sizeof real_norms);
    double farthest = largest_norm(real_norms);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, POINTS, CENTROIDS, dim, 1, x, dim, c, dim,
                0, scores, CENTROIDS);
    for (size_t i = 0; i < POINTS && isfinite(value_of(corrections[i])); i++, scores += CENTROIDS) {
        double own = value_of(corrections[i]), least = (double)make_scores(real_norms, scores);
        double known = value_of(best[i]) - own; /* NaN at first, which fmin ignores */
        double most = fmin(least, known) + score_margin(groups, sqrt(own) + farthest);
        if (least <= most)
            compare_candidates(x + i * groups, c, groups, scores, most, first, best + i,
                               nearest + i);
    }
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
};

/* OpenBLAS must not start threads: each thread of k-means multiplies its own blocks. */
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
