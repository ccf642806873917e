/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the centroids from the rows of a file, in any format of points. */
#include "config.h"

#include "kmeans/init/init.h"

#include <inttypes.h>
#include <math.h>

static double feature_of(const km_points *found, size_t i) {
    if (!found->real.used)
        return found->data[i];
    return (double)km_real_feature(&found->real, i % found->dim, ((const float *)found->data)[i]);
}

/* Converts the rows FOUND to bytes. */
static bool convert_to_bytes(const char *path, const km_points *found, uint8_t *centroids,
                             app_problem *problem) {
    for (size_t i = 0; i < found->rows * found->dim; i++) {
        double value = feature_of(found, i);
        if (!(value >= 0 && value <= 255 && value == trunc(value)))
            return app_refuse(problem,
                              "%s: row %zu, column %zu (counted from 0) is %g; centroids of bytes "
                              "are whole numbers from 0 to 255, others need --centroids-as float",
                              path, i / found->dim, i % found->dim, value);
        centroids[i] = (uint8_t)value;
    }
    return true;
}

/* Converts the rows FOUND to CENTROIDS in the form that POINTS need. */
static bool convert_rows(const char *path, const km_points *found, const km_points *points,
                         uint8_t *centroids, app_problem *problem) {
    if (!points->fixed_point && !points->real.used)
        return convert_to_bytes(path, found, centroids, problem);
    bool good = true;
    for (size_t i = 0; good && i < found->rows * found->dim; i++)
        good =
            km_init_store(points, found->rows, path, i, feature_of(found, i), centroids, problem);
    return good;
}

static bool read_centroids(const km_seeding *seeding, uint8_t *centroids, app_problem *problem) {
    const char *path = seeding->start->path;
    const km_points *points = seeding->points;
    km_points found;
    if (app_rank(seeding->comm) == 0 &&
        km_points_load(&path, 1, NULL, true, MPI_COMM_SELF, &found, problem)) {
        if (found.total != seeding->k || found.dim != points->dim)
            app_refuse(problem,
                       "%s: has %" PRIu64 " rows of %zu features; the start needs %zu of %zu", path,
                       found.total, found.dim, seeding->k, points->dim);
        else
            convert_rows(path, &found, points, centroids, problem);
        km_points_free(&found);
    }
    return app_agree(problem, seeding->comm);
}

const km_init_method km_init_file = {"file", read_centroids};
