#include "config.h"

#include "kmeans/result.h"

#include "app/output.h"
#include "kmeans/points/npy.h"
#include "kmeans/points/rows.h"

static bool write_centroids(app_output *output, const km_result *result, size_t k,
                            const km_points *points, app_problem *problem) {
    char header[NPY_HEADER_SIZE];
    npy_format_header(points->real.used ? NPY_FLOAT32 : NPY_UINT8, 2, k, points->dim, header);
    return app_output_write(output, header, sizeof header, problem) &&
           app_output_write(output, result->centroids, k * km_row_bytes(points), problem);
}

/* Clusters fit int32, whose bits are those of uint32 then. */
static bool write_clusters(uint32_t *clusters, size_t count, void *context, app_problem *problem) {
    return app_output_write(context, clusters, count * sizeof *clusters, problem);
}

static bool write_clusters_header(app_output *output, uint64_t total, app_problem *problem) {
    char header[NPY_HEADER_SIZE];
    npy_format_header(NPY_INT32, 1, total, 1, header);
    return app_output_write(output, header, sizeof header, problem);
}

/* Neither gets its name before both are on disk. */
static bool keep_both(app_output *centroids, app_output *clusters, app_problem *problem) {
    return app_output_finish(centroids, problem) && app_output_finish(clusters, problem) &&
           app_output_keep(centroids, problem) && app_output_keep(clusters, problem);
}

bool km_write_result(const km_result *result, const km_points *points, size_t k,
                     const char *centroids_path, const char *assign_path, MPI_Comm comm,
                     app_problem *problem) {
    int rank = app_rank(comm);
    app_output centroids = {NULL}, clusters = {NULL};
    if (rank == 0 && app_output_open(&centroids, centroids_path, problem) &&
        app_output_open(&clusters, assign_path, problem) &&
        write_centroids(&centroids, result, k, points, problem))
        write_clusters_header(&clusters, points->total, problem);
    bool good = app_agree(problem, comm);
    if (good) {
        if (km_rows_collect(result->nearest, points, comm, write_clusters, &clusters, problem) &&
            rank == 0)
            keep_both(&centroids, &clusters, problem);
        good = app_agree(problem, comm);
    }
    app_output_discard(&clusters);
    app_output_discard(&centroids);
    return good;
}
