/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/km_predict.h"

#include "app/agreement.h"
#include "app/clocks.h"
#include "app/files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/progress.h"
#include "kmeans/assign/threads.h"
#include "kmeans/kmeans.h"
#include "kmeans/nearest.h"
#include "kmeans/points/fixed_point.h"
#include "kmeans/points/npy.h"
#include "kmeans/points/rows.h"
#include "kmeans/points/weights.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: mpirun -n RANKS coll-kmeans predict --centroids FILE POINTS... --assign FILE.npy "
    "[options]\n"
    "\n"
    "Finds the nearest centroid of each point. POINTS and the centroids may have any format that\n"
    "coll-kmeans reads.\n";

static const char notes[] =
    "Of equally near centroids, the one with the lowest number is taken. Distances are Euclidean.\n"
    "With --nearest N, both files have N columns, the nearest centroid first.\n";

static struct {
    const char *centroids, *assign, *distances, *weights;
    app_words points;
    uint64_t nearest;
    int threads, metric;
} options = {.nearest = 1};

const char *km_metric_name(int number) {
    static const char *const names[] = {"euclidean", "cosine"};
    return number <= KM_COSINE ? names[number] : NULL;
}

static const app_option table[] = {
    {"a file of points", .operands = &options.points, .required = true},
    {"centroids", "FILE", "the centroids, such as coll-kmeans writes", .text = &options.centroids,
     .required = true},
    {"assign", "FILE.npy",
     "write the number of each point's nearest centroid here: int32, in the points' order",
     .text = &options.assign, .required = true},
    {"distances", "FILE.npy", "write the distances from these centroids here: float32",
     .text = &options.distances},
    {"weights", "FILE.npy",
     "the weight of each point, in the points' order, for the objective that is printed",
     .text = &options.weights},
    {"nearest", "N", "find the N nearest centroids of each point, slowly", .size = &options.nearest,
     .least = 1, .most = INT32_MAX},
    {"metric", "NAME",
     "euclidean; or cosine: rows and centroids are scaled to length 1. NAME is one of:",
     .choice = &options.metric, .nth = km_metric_name},
    {"threads", "T", "threads of each rank (default: its processors, shared fairly)",
     .integer = &options.threads, .least = 1, .most = 1024},
    APP_PROGRESS_OPTION,
};

/*
 * The form of the centroids, which rank 0 broadcasts. BYTES is 1 if all features are bytes, FINE is
 * 1 if all features are multiples of 2^-16 from 0 to 255.
 */
typedef struct centroid_form {
    uint64_t k, dim, bytes, fine;
} centroid_form;

static bool check_files(MPI_Comm comm, app_problem *problem) {
    char *centroids = km_points_file(options.centroids);
    char **points = km_points_files(options.points.words, options.points.count);
    if (!points)
        app_refuse(problem, "out of memory");
    const app_file_use files[] = {
        {APP_FILE_WRITTEN, "--assign", &options.assign, 1, NULL},
        {APP_FILE_WRITTEN, "--distances", &options.distances, 1, NULL},
        {APP_FILE_READ, "POINTS", (const char *const *)points, points ? options.points.count : 0,
         NULL},
        {APP_FILE_READ, "--weights", &options.weights, 1, NULL},
        {APP_FILE_READ, "--centroids", (const char *const *)&centroids, 1, NULL}};
    if (app_rank(comm) == 0)
        app_files_check(files, sizeof files / sizeof *files, problem);
    km_points_files_free(points);
    free(centroids);
    return app_agree(problem, comm);
}

static bool are_fine(const km_points *rows) {
    const float *kept = (const float *)rows->data;
    for (size_t i = 0; i < rows->rows * rows->dim; i++)
        if (!km_is_fixed_point((double)km_real_feature(&rows->real, i % rows->dim, kept[i])))
            return false;
    return true;
}

/* Reads the file of centroids at rank 0, and broadcasts the FORM of the centroids. */
static bool read_form(MPI_Comm comm, centroid_form *form, app_problem *problem) {
    km_points rows;
    *form = (centroid_form){0};
    if (app_rank(comm) == 0 &&
        km_points_load(&options.centroids, 1, NULL, true, MPI_COMM_SELF, &rows, problem)) {
        *form = (centroid_form){.k = rows.total, .dim = rows.dim, .bytes = !rows.real.used};
        form->fine = !rows.real.used || are_fine(&rows);
        km_points_free(&rows);
        if (form->k < 1 || form->k > INT32_MAX)
            app_refuse(problem, "--centroids %s: has %" PRIu64 " rows; 1 to %d are allowed",
                       options.centroids, form->k, INT32_MAX);
        else if (options.nearest > form->k)
            app_refuse(problem, "--nearest %" PRIu64 ": there are only %" PRIu64 " centroids",
                       options.nearest, form->k);
    }
    return app_agree(problem, comm) &&
           app_mpi(problem, MPI_Bcast(form, sizeof *form, MPI_BYTE, 0, comm));
}

/* Reads the points and gives them the form that the centroids need. */
static bool read_points(const centroid_form *form, MPI_Comm comm, km_points *points,
                        app_problem *problem) {
    if (!km_points_load(options.points.words, options.points.count, NULL, true, comm, points,
                        problem))
        return false;
    if (points->dim != form->dim)
        return app_refuse(problem,
                          "--centroids %s: has %" PRIu64 " features a row, the points have %zu",
                          options.centroids, form->dim, points->dim);
    if (options.weights && !km_points_read_weights(points, options.weights, comm, problem))
        return false;
    if (options.metric == KM_COSINE)
        return km_points_use_cosine(points, NULL, comm, problem);
    if (points->real.used || form->bytes)
        return true;
    return form->fine && points->dim <= KM_FIXED_POINT_MAX_DIM
               ? km_points_use_fixed_point(points, problem)
               : km_points_use_reals(points, NULL, comm, problem);
}

static void report_progress(int64_t iteration, double done, void *context) {
    (void)iteration, (void)context;
    if (app_progress_due())
        app_progress("assignment: %.0f%%", 100 * done);
}

static bool write_values(uint32_t *values, size_t count, void *output, app_problem *problem) {
    return app_output_write(output, values, count * sizeof *values, problem);
}

static bool open_output(app_output *output, const char *path, npy_type type, uint64_t rows,
                        app_problem *problem) {
    char header[NPY_HEADER_SIZE];
    if (!path)
        return true;
    npy_format_header(type, options.nearest > 1 ? 2 : 1, rows, options.nearest, header);
    return app_output_open(output, path, problem) &&
           app_output_write(output, header, sizeof header, problem);
}

/* Writes both files as temporary files, and renames them only when both are complete. */
static bool write_files(const km_points *points, uint32_t *nearest, float *distances, MPI_Comm comm,
                        app_problem *problem) {
    const int rank = app_rank(comm);
    app_output outputs[2] = {{NULL}, {NULL}};
    size_t each = options.nearest;
    if (rank == 0 && open_output(&outputs[0], options.assign, NPY_INT32, points->total, problem))
        open_output(&outputs[1], options.distances, NPY_FLOAT32, points->total, problem);
    bool good = app_agree(problem, comm);
    if (good) {
        km_rows_collect(nearest, each, points, comm, write_values, &outputs[0], problem);
        if (options.distances)
            km_rows_collect((uint32_t *)distances, each, points, comm, write_values, &outputs[1],
                            problem);
        for (int i = 0; i < 2 && !problem->text[0]; i++)
            app_output_finish(&outputs[i], problem);
        for (int i = 0; i < 2 && !problem->text[0]; i++)
            app_output_keep(&outputs[i], problem);
        good = app_agree(problem, comm);
    }
    app_output_discard(&outputs[0]);
    app_output_discard(&outputs[1]);
    return good;
}

/*
 * Sets DISTANCES to the distances of the points from their nearest centroids. If --nearest asks for
 * several centroids for each point, also replaces FOUND->nearest by their numbers.
 */
static bool list_nearest(const km_points *points, const km_settings *settings, km_result *found,
                         float *distances, app_problem *problem) {
    if (options.nearest == 1) {
        for (size_t i = 0; i < points->rows; i++)
            distances[i] = (float)km_points_distance(points, found->distance2[i]);
        return true;
    }
    free(found->nearest);
    found->nearest = malloc((points->rows * options.nearest + 1) * sizeof *found->nearest);
    if (!found->nearest || km_find_nearest(points, found->centroids, settings->k, options.nearest,
                                           settings->threads, found->nearest, distances))
        return app_refuse(problem, "out of memory");
    return true;
}

static bool assign(const km_points *points, const centroid_form *form, double read_seconds,
                   MPI_Comm comm, app_problem *problem) {
    char text[256];
    const km_observer observer = {.progress = report_progress};
    km_settings settings = {.k = form->k,
                            .threads = options.threads,
                            .kernel = km_kernel_best(text, sizeof text),
                            .start = {.method = &km_init_file, .path = options.centroids},
                            .tolerance = -1,
                            .moved = -1,
                            .gain = -1,
                            .seconds = -1};
    km_result found = {.centroids = NULL};
    double start = app_seconds();
    float *distances = malloc((points->rows * options.nearest + 1) * sizeof *distances);
    if (!settings.kernel)
        app_refuse(problem, "%s", text);
    else if (!distances)
        app_refuse(problem, "out of memory");
    bool good = app_agree(problem, comm) &&
                (settings.threads || km_default_threads(comm, &settings.threads, problem)) &&
                km_cluster(points, &settings, &observer, comm, &found, problem);
    if (good)
        list_nearest(points, &settings, &found, distances, problem);
    good = app_agree(problem, comm) && good;
    double assigned = app_seconds();
    good = good && write_files(points, found.nearest, distances, comm, problem);
    if (good && app_rank(comm) == 0) {
        app_progress_hide();
        printf("%" PRIu64 " points of %zu features, %" PRIu64 " centroids; objective %.12g\n",
               points->total, points->dim, form->k, km_points_objective(points, found.objective));
        printf("time: reading %.2f s, assignment %.2f s, writing %.2f s\n", read_seconds,
               assigned - start, app_seconds() - assigned);
        app_output_flush_stdout(problem);
    }
    km_result_free(&found);
    free(distances);
    return good;
}

static void run(MPI_Comm comm, app_problem *problem) {
    centroid_form form;
    km_points points = {.data = NULL};
    double start = app_seconds();
    if (!check_files(comm, problem) || !read_form(comm, &form, problem))
        return;
    read_points(&form, comm, &points, problem);
    if (app_agree(problem, comm))
        assign(&points, &form, app_seconds() - start, comm, problem);
    km_points_free(&points);
}

int km_predict_main(int argc, char **argv) {
    static const app_command command = {"coll-kmeans predict", usage, notes, APP_TABLE(table)};
    app_problem problem = {""};
    app_parse(&command, argc, argv, &problem);
    MPI_Comm comm = app_begin(&argc, &argv, "coll-kmeans", &problem);
    run(comm, &problem);
    app_words_free(&options.points);
    app_agree_or_end(comm, "coll-kmeans", &problem);
    return app_end(&comm);
}
