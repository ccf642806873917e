/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the centroids from the rows of a file, in any format of points. */
#include "config.h"

#include "kmeans/init/init.h"
#include "kmeans/points/fixed_point.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double feature_of(const km_points *found, size_t i) {
    if (!found->real.used)
        return found->data[i];
    return (double)km_real_feature(&found->real, i % found->dim, ((const float *)found->data)[i]);
}

/*
 * Stores VALUE in the form of feature I of POINTS. Reports a problem if it is so far from the
 * points that squared distances overflow float32.
 */
static bool store_real(const char *path, const km_points *points, float *centroids, size_t i,
                       double value, app_problem *problem) {
    double kept = km_real_store(&points->real, i % points->dim, value);
    centroids[i] = (float)kept;
    return fabs(kept) <= KM_LARGEST_REAL ||
           app_refuse(problem,
                      "%s: row %zu, column %zu (counted from 0) is %g, too far from the points for "
                      "float32; start nearer to them",
                      path, i / points->dim, i % points->dim, value);
}

/* Makes the rows FOUND centroids, in the form that POINTS need. */
static bool convert_rows(const char *path, const km_points *found, const km_points *points,
                         uint8_t *centroids, app_problem *problem) {
    size_t features = found->rows * found->dim;
    bool good = true;
    for (size_t i = 0; good && points->fixed_point && i < features; i++)
        good = km_planes_set_checked(centroids, features, i, feature_of(found, i), path, problem);
    for (size_t i = 0; good && points->real.used && i < features; i++)
        good = store_real(path, points, (float *)centroids, i, feature_of(found, i), problem);
    if (!points->fixed_point && !points->real.used)
        memcpy(centroids, found->data, features);
    return good;
}

static bool read_centroids(const km_seeding *seeding, uint8_t *centroids, app_problem *problem) {
    const char *path = seeding->start->path;
    const km_points *points = seeding->points;
    bool reals = points->fixed_point || points->real.used;
    km_points found;
    if (app_rank(seeding->comm) == 0 &&
        km_points_load(&path, 1, NULL, reals, MPI_COMM_SELF, &found, problem)) {
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
