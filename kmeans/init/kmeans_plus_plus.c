/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * k-means++: each centroid is a random point, drawn with a probability in proportion to its squared
 * distance from the nearest centroid so far, times its weight; the first centroid is drawn
 * uniformly, or by weight.
 *
 * The points' integer weights form consecutive intervals in the order of rows, and a place in these
 * intervals is drawn. So the choice is exact and doesn't depend on how the rows are spread over
 * ranks. Once every point coincides with a centroid, rows of the random start follow.
 *
 * Cost: k passes over the points, n * k * dim / (ranks * threads) multiplications and 12 bytes a
 * point; suited to small k. Source: Arthur and Vassilvitskii, "k-means++: the advantages of careful
 * seeding", SODA 2007.
 */
#include "config.h"

#include "kmeans/init/draw.h"
#include "kmeans/init/init.h"
#include "kmeans/points/random.h"

#include <stdlib.h>
#include <string.h>

enum { STREAM = 1 };

/*
 * Draws the row of centroid J in proportion to WEIGHTS_NOW, the points' current weights; if all are
 * 0, takes a row of the random start.
 */
static bool draw_row(const km_points *points, const uint64_t *weights_now, size_t j, uint64_t seed,
                     uint64_t *row, MPI_Comm comm, app_problem *problem) {
    uint64_t total;
    if (!km_draw_total(points, weights_now, &total, comm, problem))
        return false;
    if (!total) {
        *row = km_sample_row(seed, points->total, j % points->total);
        return true;
    }
    uint64_t place = km_random_below(seed, STREAM, j, total);
    return km_draw_rows(points, weights_now, &place, 1, row, comm, problem);
}

/*
 * Draws one centroid after the other. WEIGHTS_NOW and NEAREST2 are scratch memory of a number for
 * each point.
 */
static bool draw_all(const km_seeding *seeding, const uint64_t *weights, uint8_t *centroids,
                     uint64_t *weights_now, uint32_t *nearest2, app_problem *problem) {
    const km_points *points = seeding->points;
    const MPI_Comm comm = seeding->comm;
    uint64_t row;
    double unit;
    memset(nearest2, 0xff, points->rows * sizeof *nearest2);
    for (size_t i = 0; i < points->rows; i++)
        weights_now[i] = weights ? weights[i] : 1;
    for (size_t j = 0; j < seeding->k; j++) {
        km_draw_report("k-means++", j, seeding->k, comm);
        uint8_t *centroid = centroids + j * km_row_bytes(points);
        if (!draw_row(points, weights_now, j, seeding->seed, &row, comm, problem) ||
            !km_draw_fetch(points, row, centroid, comm, problem))
            return false;
        km_draw_lower(points, points->data, points->rows, centroid, seeding->threads, nearest2);
        if (!km_draw_unit(points, nearest2, comm, &unit, problem))
            return false;
        for (size_t i = 0; i < points->rows; i++)
            weights_now[i] = km_real_to_units(unit, nearest2[i]) * (weights ? weights[i] : 1);
    }
    return true;
}

bool km_plus_plus(const km_seeding *seeding, const uint64_t *weights, uint8_t *centroids,
                  app_problem *problem) {
    const size_t rows = seeding->points->rows;
    uint64_t *weights_now = malloc((rows + 1) * sizeof *weights_now);
    uint32_t *nearest2 = malloc((rows + 1) * sizeof *nearest2);
    if (!weights_now || !nearest2)
        app_refuse(problem, "out of memory");
    bool good = app_agree(problem, seeding->comm) &&
                draw_all(seeding, weights, centroids, weights_now, nearest2, problem);
    free(nearest2);
    free(weights_now);
    return good;
}

static bool choose_plus_plus(const km_seeding *seeding, uint8_t *centroids, app_problem *problem) {
    return km_plus_plus(seeding, seeding->points->weights, centroids, problem);
}

const km_init_method km_init_plus_plus = {"k-means++", choose_plus_plus};
