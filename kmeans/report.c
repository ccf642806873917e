#include "config.h"

#include "kmeans/report.h"

#include "app/cli.h"

#include <inttypes.h>

void report_begin(km_report *report, const km_points *points, const km_settings *settings,
                  int ranks, double read_seconds) {
    report->points = points;
    report->started = MPI_Wtime();
    report->shown = 0;
    report->skipped = -1;
    report->iterations = settings->iterations;
    printf("%" PRIu64 " points of %zu features, read in %.2f s; k = %zu; %d rank%s, %d thread%s on "
           "rank 0, kernel %s\n",
           points->total, points->dim, read_seconds, settings->k, ranks, ranks == 1 ? "" : "s",
           settings->threads, settings->threads == 1 ? "" : "s", settings->kernel->name);
    printf("%9s %20s %12s %10s %8s %8s %9s %9s %9s %9s %9s %9s %9s\n", "iteration", "objective",
           "moved", "imbalance", "empty", "refilled", "shift", "broadcast", "map", "local",
           "group-by", "gather", "total");
    fflush(stdout);
}

static void hide_progress(const km_report *report) {
    if (report->progress)
        fputs("\r\033[K", stderr);
}

/* Of bytes it is a whole number. */
static void print_objective(const km_report *report, uint64_t objective) {
    const km_real *real = &report->points->real;
    if (real->used)
        printf("%20.12g", km_real_objective(real, objective));
    else
        printf("%20" PRIu64, objective);
}

static void json_objective(cli_json *json, const km_report *report, uint64_t objective) {
    const km_real *real = &report->points->real;
    if (real->used)
        cli_json_number(json, "objective", km_real_objective(real, objective));
    else
        cli_json_integer(json, "objective", (int64_t)objective);
}

static void write_json(const km_report *report, const km_step *step) {
    static const char *const names[KM_PHASES] = {"broadcast_s", "map_s",    "local_s",
                                                 "group_by_s",  "gather_s", "total_s"};
    cli_json json;
    cli_json_begin(&json, report->json);
    cli_json_integer(&json, "iteration", step->iteration);
    json_objective(&json, report, step->objective);
    cli_json_integer(&json, "moved", (int64_t)step->moved);
    cli_json_number(&json, "imbalance", step->imbalance);
    cli_json_integer(&json, "empty", (int64_t)step->empty);
    cli_json_integer(&json, "refilled", (int64_t)step->refilled);
    cli_json_number(&json, "shift", step->shift);
    for (int phase = 0; phase < KM_PHASES; phase++)
        cli_json_number(&json, names[phase], step->seconds[phase]);
    cli_json_end(&json);
}

void report_step(const km_step *step, void *context) {
    const km_report *report = context;
    hide_progress(report);
    printf("%9" PRId64 " ", step->iteration);
    print_objective(report, step->objective);
    printf(" %12" PRIu64 " %10.3f %8" PRIu64 " %8" PRIu64 " %9.3f", step->moved, step->imbalance,
           step->empty, step->refilled, step->shift);
    for (int phase = 0; phase < KM_PHASES; phase++)
        printf(" %9.4f", step->seconds[phase]);
    putchar('\n');
    fflush(stdout);
    write_json(report, step);
}

void report_progress(int64_t iteration, double done, void *context) {
    km_report *report = context;
    double now = MPI_Wtime(), passes = (double)(iteration - 1) + done;
    if (report->skipped < 0)
        report->skipped = (double)(iteration - 1);
    if (!report->progress || now - report->shown < 0.2)
        return;
    report->shown = now;
    fputs("\r\033[K", stderr);
    if (iteration > report->iterations)
        fprintf(stderr, "final assignment: %.0f%%", 100 * done);
    else
        fprintf(stderr, "iteration %" PRId64 " of %" PRId64 ": %.0f%%", iteration,
                report->iterations, 100 * done);
    /* One more pass over the points follows the last iteration. */
    if (passes > report->skipped)
        fprintf(stderr, ", at most %.0f s left",
                (now - report->started) * ((double)report->iterations + 1 - passes) /
                    (passes - report->skipped));
    fflush(stderr);
}

void report_note(const char *text, void *context) {
    hide_progress(context);
    fprintf(stderr, "coll-kmeans: %s\n", text);
}

static const char *reason(km_stop stop) {
    switch (stop) {
    case KM_STOP_UNMOVED:
        return "no centroid moves any more";
    case KM_STOP_TOLERANCE:
        return "no centroid moves farther than the tolerance";
    case KM_STOP_MOVED:
        return "no more than the given share of the points moves";
    case KM_STOP_GAIN:
        return "the objective falls by no more than the given share";
    case KM_STOP_SECONDS:
        return "the time is up";
    case KM_STOP_ITERATIONS:
        break;
    }
    return "the iterations asked for are done";
}

void report_end(km_report *report, const km_result *result) {
    const km_points *points = report->points;
    cli_json json;
    double seconds = MPI_Wtime() - report->started;
    double rounding = points->real.used ? 0 : (double)points->total * (double)points->dim / 4;
    hide_progress(report);
    printf("%" PRId64 " iteration%s in %.2f s: %s\n", result->iterations,
           result->iterations == 1 ? "" : "s", seconds, reason(result->stop));
    if (points->real.used)
        printf("final objective %.12g\n", km_real_objective(&points->real, result->objective));
    else
        printf("final objective %" PRIu64
               ", of which rounding the centroids explains %.0f at most\n",
               result->objective, rounding);
    fflush(stdout);

    cli_json_begin(&json, report->json);
    cli_json_text(&json, "result", reason(result->stop));
    cli_json_integer(&json, "iterations", result->iterations);
    json_objective(&json, report, result->objective);
    cli_json_number(&json, "rounding_at_most", rounding);
    cli_json_number(&json, "seconds", seconds);
    cli_json_end(&json);
}

void report_core_type(void) {
    char advice[256];
    if (km_kernel_real_advice(advice, sizeof advice))
        fprintf(stderr, "coll-kmeans: warning: %s\n", advice);
}
