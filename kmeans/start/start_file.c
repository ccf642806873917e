/* The rows of a file, in any format of points. */
#include "config.h"

#include "kmeans/start/start.h"

#include <inttypes.h>
#include <string.h>

static bool choose(const km_seeding *seeding, uint8_t *centroids, app_problem *problem) {
    const char *path = seeding->start->path;
    km_points found;
    if (app_rank(seeding->comm) == 0 && km_points_read(&path, 1, MPI_COMM_SELF, &found, problem)) {
        if (found.total != seeding->k || found.dim != seeding->points->dim)
            app_refuse(problem,
                       "%s: has %" PRIu64 " rows of %zu features; the start needs %zu of %zu", path,
                       found.total, found.dim, seeding->k, seeding->points->dim);
        else
            memcpy(centroids, found.data, found.rows * found.dim);
        km_points_free(&found);
    }
    return app_agree(problem, seeding->comm);
}

const km_start_method km_start_file = {"file", choose};
