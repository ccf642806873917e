/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/km_report.h"

#include "app/clocks.h"
#include "app/json.h"
#include "app/output.h"
#include "app/progress.h"
#include "kmeans/points/fixed_point.h"
#include "kmeans/points/npy.h"
#include "kmeans/points/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void km_report_begin(km_report *report, const km_points *points, const km_settings *settings,
                     int ranks, double read_seconds) {
    const km_kernel *kernel = settings->kernel;
    if (points->real.used && kernel->quantised)
        kernel = kernel->quantised;
    app_progress_hide();
    report->points = points;
    report->read = read_seconds;
    report->started = report->since = app_seconds();
    report->batch = points->total;
    report->skipped = -1;
    report->iterations = settings->iterations;
    printf("%" PRIu64 " points of %zu features, read in %.2f s; k = %" PRIu64
           "; %d rank%s, %d thread%s on "
           "rank 0, kernel %s (%s)\n",
           points->total, points->dim, read_seconds, settings->k, ranks, ranks == 1 ? "" : "s",
           settings->threads, settings->threads == 1 ? "" : "s", kernel->name, kernel->instruction);
    printf("%9s %20s %12s %10s %8s %8s %9s %9s %9s %9s %9s %9s %9s\n", "iteration", "objective",
           "moved", "imbalance", "empty", "refilled", "shift", "broadcast", "map", "local",
           "group-by", "gather", "total");
    fflush(stdout);
}

void km_report_batch(uint64_t points, void *context) {
    km_report *report = context;
    app_progress_hide();
    report->since = app_seconds();
    report->batch = points;
    report->skipped = -1;
    printf("on %" PRIu64 " points:\n", points);
}

/* Returns whether objectives are whole numbers, as for bytes without fractional weights. */
static bool has_whole_objectives(const km_points *points) {
    return !km_has_real_distances(points) && !points->weight_bits;
}

static void print_objective(const km_report *report, uint64_t objective) {
    if (!has_whole_objectives(report->points))
        printf("%20.12g", km_points_objective(report->points, objective));
    else
        printf("%20" PRIu64, objective);
}

static app_member json_objective(const km_report *report, uint64_t objective) {
    return has_whole_objectives(report->points)
               ? app_json_integer("objective", (int64_t)objective)
               : app_json_number("objective", km_points_objective(report->points, objective));
}

void km_report_quality(uint64_t objective, void *context) {
    const km_report *report = context;
    app_progress_hide();
    printf("%9s ", "all");
    print_objective(report, objective);
    putchar('\n');
    fflush(stdout);
    app_json(report->json, app_json_text("quality", "over all points"),
             app_json_integer("points", (int64_t)report->batch), json_objective(report, objective));
}

static void write_step_json(const km_report *report, const km_step *step) {
    const double *seconds = step->seconds;
    app_json(
        report->json, app_json_integer("iteration", step->iteration),
        app_json_integer("points", (int64_t)report->batch), json_objective(report, step->objective),
        app_json_integer("moved", (int64_t)step->moved),
        app_json_number("imbalance", step->imbalance),
        app_json_integer("empty", (int64_t)step->empty),
        app_json_integer("refilled", (int64_t)step->refilled),
        app_json_number("shift", step->shift),
        app_json_number("broadcast_s", seconds[KM_BROADCAST]),
        app_json_number("map_s", seconds[KM_MAP]), app_json_number("local_s", seconds[KM_LOCAL]),
        app_json_number("group_by_s", seconds[KM_GROUP_BY]),
        app_json_number("gather_s", seconds[KM_GATHER]),
        app_json_number("total_s", seconds[KM_TOTAL]));
}

void km_report_step(const km_step *step, void *context) {
    const km_report *report = context;
    app_progress_hide();
    printf("%9" PRId64 " ", step->iteration);
    print_objective(report, step->objective);
    printf(" %12" PRIu64 " %10.3f %8" PRIu64 " %8" PRIu64 " %9.3f", step->moved, step->imbalance,
           step->empty, step->refilled, step->shift);
    for (int phase = 0; phase < KM_PHASES; phase++)
        printf(" %9.4f", step->seconds[phase]);
    putchar('\n');
    fflush(stdout);
    write_step_json(report, step);
}

void km_report_progress(int64_t iteration, double done, void *context) {
    km_report *report = context;
    double passes = (double)(iteration - 1) + done;
    char what[64], left[64] = "";
    if (report->skipped < 0)
        report->skipped = (double)(iteration - 1);
    if (!app_progress_due())
        return;
    /* False for a batch, to which the user's number of iterations does not apply. */
    bool whole = report->batch == report->points->total;
    if (!whole)
        snprintf(what, sizeof what, "iteration %" PRId64 " on %" PRIu64 " points", iteration,
                 report->batch);
    else if (iteration > report->iterations)
        snprintf(what, sizeof what, "final assignment");
    else
        snprintf(what, sizeof what, "iteration %" PRId64 " of %" PRId64, iteration,
                 report->iterations);
    /* The last iteration is followed by one more pass over the points. */
    if (whole && passes > report->skipped)
        snprintf(left, sizeof left, ", at most %.0f s left",
                 (app_seconds() - report->since) * ((double)report->iterations + 1 - passes) /
                     (passes - report->skipped));
    app_progress("%s: %.0f%%%s", what, 100 * done, left);
}

void km_report_note(const char *text, void *context) {
    (void)context;
    app_progress_hide();
    fprintf(stderr, "coll-kmeans: %s\n", text);
}

static const char *const reasons[] = {
    [KM_STOP_UNMOVED] = "no centroid moves any more",
    [KM_STOP_TOLERANCE] = "no centroid moves farther than the tolerance",
    [KM_STOP_MOVED] = "no more than the given share of the points moves",
    [KM_STOP_GAIN] = "the objective falls by no more than the given share",
    [KM_STOP_SECONDS] = "the time is up",
    [KM_STOP_ITERATIONS] = "the iterations asked for are done",
};

/* Returns the time of the clustering without its first centroids and its final assignment. */
static double iteration_seconds(const km_report *report, const km_result *result) {
    return report->seconds - result->start_seconds - result->final_seconds;
}

void km_report_end(km_report *report, const km_result *result) {
    const km_points *points = report->points;
    double seconds = report->seconds = app_seconds() - report->started;
    double rounding = 0;
    if (!km_has_real_distances(points))
        rounding =
            ldexp((double)km_points_weight(points), -points->weight_bits) * (double)points->dim / 4;
    app_progress_hide();
    printf("%" PRId64 " iteration%s in %.2f s: %s\n", result->iterations,
           result->iterations == 1 ? "" : "s", seconds, reasons[result->stop]);
    if (has_whole_objectives(points))
        printf("final objective %" PRIu64, result->objective);
    else
        printf("final objective %.12g", km_points_objective(points, result->objective));
    if (rounding > 0)
        printf(", of which rounding the centroids explains %.0f at most", rounding);
    putchar('\n');
    fflush(stdout);

    app_json(
        report->json, app_json_text("result", reasons[result->stop]),
        app_json_integer("iterations", result->iterations),
        json_objective(report, result->objective), app_json_number("rounding_at_most", rounding),
        app_json_number("read_s", report->read), app_json_number("start_s", result->start_seconds),
        app_json_number("iterations_s", iteration_seconds(report, result)),
        app_json_number("final_s", result->final_seconds), app_json_number("seconds", seconds));
}

void km_report_times(const km_report *report, const km_result *result, double write_seconds) {
    printf("time: reading %.2f s, first centroids %.2f s, iterations %.2f s, final assignment "
           "%.2f s, writing %.2f s\n",
           report->read, result->start_seconds, iteration_seconds(report, result),
           result->final_seconds, write_seconds);
}

/* Writes fixed-point centroids as float32. */
static bool write_fixed_point(app_output *output, const km_planes *planes, app_problem *problem) {
    float *features = malloc(planes->dim * sizeof *features);
    bool good = features || app_refuse(problem, "out of memory");
    for (size_t j = 0; good && j < planes->k; j++) {
        km_planes_get(planes, j, features);
        good = app_output_write(output, features, planes->dim * sizeof *features, problem);
    }
    free(features);
    return good;
}

/* Writes centroids of real features in the user's values. */
static bool write_reals(app_output *output, const km_result *result, size_t k,
                        const km_points *points, app_problem *problem) {
    size_t dim = points->dim;
    float *features = malloc(dim * sizeof *features);
    bool good = features || app_refuse(problem, "out of memory");
    for (size_t j = 0; good && j < k; j++) {
        const float *kept = (const float *)result->centroids + j * dim;
        for (size_t i = 0; i < dim; i++)
            features[i] = km_real_feature(&points->real, i, kept[i]);
        good = app_output_write(output, features, dim * sizeof *features, problem);
    }
    free(features);
    return good;
}

static bool write_centroids(app_output *output, const km_result *result, size_t k,
                            const km_points *points, app_problem *problem) {
    char header[NPY_HEADER_SIZE];
    npy_format_header(km_has_real_distances(points) ? NPY_FLOAT32 : NPY_UINT8, 2, k, points->dim,
                      header);
    if (!app_output_write(output, header, sizeof header, problem))
        return false;
    if (points->fixed_point)
        return write_fixed_point(output, &(km_planes){result->centroids, k, points->dim}, problem);
    if (points->real.used)
        return write_reals(output, result, k, points, problem);
    return app_output_write(output, result->centroids, km_centroids_bytes(points, k), problem);
}

/* Clusters fit int32, so their uint32 bits are the same. */
static bool write_clusters(uint32_t *clusters, size_t count, void *context, app_problem *problem) {
    return app_output_write(context, clusters, count * sizeof *clusters, problem);
}

static bool write_clusters_header(app_output *output, uint64_t total, app_problem *problem) {
    char header[NPY_HEADER_SIZE];
    npy_format_header(NPY_INT32, 1, total, 1, header);
    return app_output_write(output, header, sizeof header, problem);
}

/* Renames both files into place once both are on disk. */
static bool rename_both(app_output *centroids, app_output *clusters, app_problem *problem) {
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
        write_centroids(&centroids, result, k, points, problem) && assign_path)
        write_clusters_header(&clusters, points->total, problem);
    bool good = app_agree(problem, comm);
    if (good) {
        if ((!assign_path || km_rows_collect(result->nearest, 1, points, comm, write_clusters,
                                             &clusters, problem)) &&
            rank == 0)
            rename_both(&centroids, &clusters, problem);
        good = app_agree(problem, comm);
    }
    app_output_discard(&clusters);
    app_output_discard(&centroids);
    return good;
}
