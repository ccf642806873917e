/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/kmeans.h"

#include "kmeans/assign/cluster_sums.h"
#include "kmeans/assign/empty_clusters.h"
#include "kmeans/checkpoint.h"
#include "kmeans/map.h"

#include <coll.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_BYTES = 1 << 28 };

/* The state of a clustering. */
typedef struct clustering {
    const km_points *points;
    const km_settings *settings;
    const km_observer *observer;
    MPI_Comm comm;
    int rank;
    km_state state;
    uint32_t *distance2; /* each point's squared distance to its centroid */
    size_t
        window; /* points that are summed up at once, so that they span a bounded part of memory */
    uint32_t *order; /* scratch memory of km_cluster_sums_add, for a window */
    size_t *starts;
    uint32_t *summed;  /* for each point: the cluster whose sum includes it; or KM_NO_CLUSTER */
    COLL_Pool *totals; /* rank 0: the sums of all clusters; NULL if nothing is summed up */
    km_projection *projection; /* NULL without pruning */
    km_sketch_cache kept;      /* sketches of this rank's points; or all NULL */
    km_group_bounds bounds;    /* of this rank's points, if they are float32 */
    km_code_cache codes;       /* of this rank's points, if CACHED */
    bool cached;
    bool projected, assigned; /* whether make_projection, make_code_cache were called */
    uint8_t *old_centroids;   /* this and the next: rank 0 only */
    uint64_t *counts;
    km_checkpoint checkpoint;
    km_identity identity;
    double started,
        elapsed; /* start time; and seconds since then by rank 0's clock, the same on all ranks */
    double total_shift2; /* sum of the squared distances that centroids moved in the last update,
                            the same on all ranks */
    double saved;        /* time of the last checkpoint, or of the start; at rank 0 */
    double saving;       /* seconds spent on checkpoints */
} clustering;

/* Allocates the memory of all iterations at once, so that a lack of memory shows at the start. */
static bool allocate_state(clustering *run, app_problem *problem) {
    size_t rows = run->points->rows + 1, k = run->settings->k,
           bytes = km_centroids_bytes(run->points, k);
    run->state.centroids = malloc(bytes);
    run->state.nearest = malloc(rows * sizeof *run->state.nearest);
    run->distance2 = calloc(rows, sizeof *run->distance2);
    run->window = WINDOW_BYTES / run->points->dim < rows ? WINDOW_BYTES / run->points->dim : rows;
    run->order = malloc(run->window * sizeof *run->order);
    run->starts = malloc((k + 1) * sizeof *run->starts);
    run->summed = malloc(rows * sizeof *run->summed);
    bool good = run->state.centroids && run->state.nearest && run->distance2 && run->order &&
                run->starts && run->summed;
    if (good)
        memset(run->summed, 0xff, rows * sizeof *run->summed);
    if (run->rank == 0) {
        run->old_centroids = malloc(bytes);
        run->counts = malloc(k * sizeof *run->counts);
        good = good && run->old_centroids && run->counts;
    }
    if (!good)
        app_refuse(problem,
                   "out of memory for %zu points and %zu centroids of %zu features on a rank",
                   run->points->rows, k, run->points->dim);
    km_group_bounds_create(run->points->rows, k, run->points->dim, &run->bounds);
    return app_agree(problem, run->comm);
}

static void release_state(clustering *run) {
    km_checkpoint_close(&run->checkpoint);
    km_projection_free(run->projection);
    km_sketch_cache_free(&run->kept);
    km_group_bounds_free(&run->bounds);
    km_code_cache_free(&run->codes);
    free(run->counts);
    free(run->old_centroids);
    COLL_Pool_free(&run->totals);
    free(run->summed);
    free(run->starts);
    free(run->order);
    free(run->distance2);
    free(run->state.nearest);
    free(run->state.centroids);
}

/* Computes the identity of this clustering, so that only its own checkpoints are accepted. */
static bool make_identity(clustering *run, app_problem *problem) {
    const km_settings *settings = run->settings;
    run->identity = (km_identity){.total = run->points->total,
                                  .dim = run->points->dim,
                                  .k = settings->k,
                                  .bytes = km_centroids_bytes(run->points, settings->k),
                                  .seed = settings->seed};
    if (run->rank == 0)
        km_init_name(&settings->start, run->identity.start, problem);
    return app_agree(problem, run->comm) &&
           km_fingerprint(run->points, settings->threads, run->comm, &run->identity.fingerprint,
                          problem);
}

/*
 * Marks all points as not assigned yet. If the settings name a checkpoint directory, opens it and
 * restores its checkpoint, if it has one. *RESUMED says whether a checkpoint was restored.
 */
static bool open_checkpoint(clustering *run, bool *resumed, app_problem *problem) {
    const km_settings *settings = run->settings;
    bool found;
    *resumed = false;
    memset(run->state.nearest, 0xff, run->points->rows * sizeof *run->state.nearest);
    if (!settings->checkpoint)
        return true;
    if (!make_identity(run, problem) ||
        !km_checkpoint_open(&run->checkpoint, settings->checkpoint, &found, run->comm, problem))
        return false;
    if (!found)
        return true;
    if (!settings->resume)
        return app_refuse(problem, "%s: has a checkpoint: resume it, or delete it to start afresh",
                          settings->checkpoint);
    *resumed = true;
    return km_checkpoint_read(&run->checkpoint, &run->identity, run->points, &run->state, run->comm,
                              problem);
}

/*
 * Calls the observer at rank 0 with a note that says whether a checkpoint was resumed, if the
 * settings ask for resuming.
 */
static void note_resumption(const clustering *run, bool resumed) {
    char text[128];
    if (run->rank > 0 || !run->settings->resume)
        return;
    if (resumed)
        snprintf(text, sizeof text, "resumed after iteration %" PRId64, run->state.step.iteration);
    else
        snprintf(text, sizeof text, "no checkpoint yet: starts from the beginning");
    run->observer->note(text, run->observer->context);
}

/* Writes a checkpoint. If that fails, the run continues, and the last checkpoint stays. */
static void write_checkpoint(clustering *run) {
    app_problem trouble = {""};
    char text[sizeof trouble.text + 64];
    double start = MPI_Wtime();
    if (!km_checkpoint_write(&run->checkpoint, &run->identity, run->points, &run->state, run->comm,
                             &trouble) &&
        run->rank == 0) {
        snprintf(text, sizeof text, "%s; goes on, the last checkpoint stays", trouble.text);
        run->observer->note(text, run->observer->context);
    }
    run->saved = MPI_Wtime();
    run->saving += run->saved - start;
}

/* Writes a checkpoint if it is due by rank 0's clock, or if NOW, which is the same on all ranks. */
static void write_checkpoint_when_due(clustering *run, bool now, app_problem *problem) {
    const km_settings *settings = run->settings;
    if (!settings->checkpoint)
        return;
    int due = now ||
              (settings->every_seconds >= 0 && MPI_Wtime() - run->saved >= settings->every_seconds);
    if (app_mpi(problem, MPI_Bcast(&due, 1, MPI_INT, 0, run->comm)) && due)
        write_checkpoint(run);
}

static bool choose_centroids(clustering *run, app_problem *problem) {
    const km_settings *settings = run->settings;
    km_seeding seeding = {.points = run->points,
                          .k = settings->k,
                          .start = &settings->start,
                          .seed = settings->seed,
                          .threads = settings->threads,
                          .kernel = settings->kernel,
                          .comm = run->comm};
    return km_init_choose(&seeding, run->state.centroids, problem);
}

/* Broadcasts the centroids. Leaves a problem to km_map, which makes all ranks agree on it. */
static void broadcast_centroids(clustering *run, km_step *step, app_problem *problem) {
    double start = MPI_Wtime();
    MPI_Count bytes = (MPI_Count)km_centroids_bytes(run->points, run->settings->k);
    app_mpi(problem, COLL_Bcast(run->state.centroids, bytes, MPI_UINT8_T, 0, run->comm));
    step->seconds[KM_BROADCAST] = MPI_Wtime() - start;
}

static void report_round(double done, void *context, app_problem *problem) {
    clustering *run = context;
    if (run->rank == 0)
        run->observer->progress(run->state.step.iteration + 1, done, run->observer->context);
    write_checkpoint_when_due(run, false, problem);
}

/*
 * Creates, in the first assignment only, the projection for all assignments from the current
 * centroids, which are the same on all ranks. Points' sketches are cached only if the points are in
 * memory, and if the memory suffices.
 */
static void make_projection(clustering *run, app_problem *problem) {
    const km_settings *settings = run->settings;
    if (!run->projected && !problem->text[0] && !settings->whole && !run->points->real.used &&
        km_projection_create(run->state.centroids, settings->k, run->points->dim, &run->projection))
        app_refuse(problem, "out of memory");
    if (!run->projected && run->projection && !run->points->storage.map)
        km_sketch_cache_create(run->points->rows, run->projection, &run->kept);
    run->projected = true;
}

/* Creates, in the first of several assignments, the cache of codes. */
static void make_code_cache(clustering *run) {
    const km_points *points = run->points;
    if (!run->assigned && points->real.used && !points->storage.map && run->settings->iterations)
        run->cached = km_code_cache_create((const float *)points->data, points->rows, points->dim,
                                           &run->codes);
    run->assigned = true;
}

/* Assigns the pending points; sums up the objective and the number of moved points of all ranks. */
static bool assign_points(clustering *run, km_step *step, app_problem *problem) {
    const km_rounds rounds = {report_round, run};
    double start = MPI_Wtime(), saving = run->saving;
    const bool bounded = run->points->real.used && !run->settings->whole;
    km_map_sums sums = {0};
    make_projection(run, problem);
    make_code_cache(run);
    const km_map_args in = {.points = run->points,
                            .settings = run->settings,
                            .projection = run->projection,
                            .kept = run->kept.corrections ? &run->kept : NULL,
                            .bounds = bounded ? &run->bounds : NULL,
                            .codes = run->cached ? &run->codes : NULL,
                            .state = &run->state,
                            .distance2 = run->distance2,
                            .rounds = &rounds,
                            .comm = run->comm};
    bool good = km_map(&in, &sums, problem);
    step->seconds[KM_MAP] = MPI_Wtime() - start - (run->saving - saving);
    step->objective = sums.objective;
    step->moved = sums.moved;
    return good;
}

/*
 * Adds to POOL the points that enter clusters, and subtracts the points that leave clusters, for
 * the window of this rank's points that begins with point ROW.
 */
static bool add_window(clustering *run, size_t row, COLL_Pool *pool, app_problem *problem) {
    const uint32_t *before = run->summed + row, *now = run->state.nearest + row;
    const km_change left = {before, now, true}, entered = {now, before, false};
    const km_change *changes[] = {&left, &entered};
    km_points part = *run->points;
    part.data += row * km_row_bytes(&part);
    part.weights = part.weights ? part.weights + row : NULL;
    part.rows = part.rows - row < run->window ? part.rows - row : run->window;
    for (int i = 0; i < 2; i++)
        if (!km_cluster_sums_add(&part, changes[i], run->settings->k, run->settings->threads,
                                 run->order, run->starts, pool, problem))
            return false;
    return true;
}

/*
 * Returns whether the sums of clusters are kept at rank 0 for the next iteration: if they take
 * little memory compared with the points there.
 */
static bool keeps_sums(const clustering *run) {
    enum { POINTS = 16 }; /* the fewest points of a rank for each cluster */
    return run->points->total / (uint64_t)app_ranks(run->comm) / POINTS >= run->settings->k;
}

/*
 * Adds to POOL the changes that this rank's points make to the sums of all clusters, one window
 * after the other. Within a window points are visited cluster by cluster, so a window limits the
 * range of random accesses to points on disk. If most points have moved, or if sums aren't kept,
 * all points are summed up again.
 */
static bool add_points(clustering *run, uint64_t moved, COLL_Pool *pool, app_problem *problem) {
    const size_t rows = run->points->rows;
    if (moved > run->points->total / 2 || !keeps_sums(run)) {
        COLL_Pool_free(&run->totals);
        memset(run->summed, 0xff, rows * sizeof *run->summed);
    }
    for (size_t row = 0; row < rows; row += run->window)
        if (!add_window(run, row, pool, problem))
            return false;
    memcpy(run->summed, run->state.nearest, rows * sizeof *run->summed);
    return true;
}

/*
 * Aggregates the sums of all clusters in POOL at rank 0. Returns false if all ranks have agreed on
 * a problem. If the aggregation itself fails, returns true and sets *PROBLEM on this rank only;
 * km_refill_empty_clusters then makes all ranks agree on it.
 */
static bool aggregate_sums(clustering *run, COLL_Pool *pool, km_step *step, app_problem *problem) {
    COLL_Aggregate_stats stats = {0};
    double start = MPI_Wtime();
    if (pool)
        add_points(run, step->moved, pool, problem);
    step->seconds[KM_LOCAL] = MPI_Wtime() - start;
    if (!app_agree(problem, run->comm))
        return false;
    app_mpi(problem, COLL_Aggregate(pool, 0, run->comm, &stats));
    step->seconds[KM_LOCAL] += stats.local_seconds;
    step->seconds[KM_GROUP_BY] = stats.group_by_seconds;
    step->seconds[KM_GATHER] = stats.gather_seconds;
    return true;
}

/* Computes, at rank 0, the empty clusters and the imbalance from the clusters' counts. */
static void count_clusters(const clustering *run, km_step *step) {
    double squares = 0, total = (double)km_points_weight(run->points);
    step->empty = 0;
    for (size_t j = 0; j < run->settings->k; j++) {
        squares += (double)run->counts[j] * (double)run->counts[j];
        step->empty += run->counts[j] == 0;
    }
    step->imbalance = squares * (double)run->settings->k / (total * total);
}

/*
 * Sets, at rank 0, *LARGEST to the square of the largest distance that a centroid moved, and *TOTAL
 * to the sum of all squares. Both must be 0 on entry.
 */
static void measure_shifts(const clustering *run, double *largest, double *total) {
    size_t k = run->settings->k;
    for (size_t j = 0; run->rank == 0 && j < k; j++) {
        double way =
            km_centroid_shift2(run->points, k, run->old_centroids, run->state.centroids, j);
        *largest = way > *largest ? way : *largest;
        *total += way;
    }
}

/*
 * Adds, at rank 0, the changes in *POOL to the sums of all clusters. If no sums have been kept,
 * *POOL itself becomes the sums, and is set to NULL.
 */
static bool add_to_totals(clustering *run, COLL_Pool **pool, app_problem *problem) {
    if (run->totals)
        return km_cluster_sums_merge(run->totals, *pool, problem);
    run->totals = *pool;
    *pool = NULL;
    return true;
}

/* Computes, at rank 0, new centroids from the assignment. */
static bool update_centroids(clustering *run, km_step *step, app_problem *problem) {
    size_t k = run->settings->k;
    COLL_Pool *pool = NULL;
    km_cluster_sums_pool(run->points, &pool, problem);
    bool good = aggregate_sums(run, pool, step, problem);
    if (good && run->rank == 0 && !problem->text[0]) {
        memcpy(run->old_centroids, run->state.centroids, km_centroids_bytes(run->points, k));
        if (add_to_totals(run, &pool, problem) &&
            km_update_centroids(run->totals, run->points, k, run->state.centroids, run->counts,
                                problem))
            count_clusters(run, step);
    }
    if (!keeps_sums(run))
        COLL_Pool_free(&run->totals);
    COLL_Pool_free(&pool);
    const km_refill refill = {.points = run->points,
                              .nearest = run->state.nearest,
                              .distance2 = run->distance2,
                              .counts = run->counts,
                              .k = k,
                              .centroids = run->state.centroids,
                              .threads = run->settings->threads,
                              .comm = run->comm};
    return good && km_refill_empty_clusters(&refill, &step->refilled, problem);
}

/*
 * Gives all ranks the same input for the stopping rules: how far the centroids moved, if they were
 * UPDATED, and the time by rank 0's clock. Also sets the time of each phase to the time of the
 * slowest rank.
 */
static bool share_step(clustering *run, bool updated, km_step *step, app_problem *problem) {
    double most[KM_PHASES + 3] = {0};
    memcpy(most, step->seconds, sizeof step->seconds);
    if (run->rank == 0)
        most[KM_PHASES] = MPI_Wtime() - run->started;
    if (updated)
        measure_shifts(run, &most[KM_PHASES + 1], &most[KM_PHASES + 2]);
    bool good = app_agree_most(problem, most, KM_PHASES + 3, run->comm);
    memcpy(step->seconds, most, sizeof step->seconds);
    run->elapsed = most[KM_PHASES];
    step->shift = sqrt(most[KM_PHASES + 1]);
    run->total_shift2 = most[KM_PHASES + 2];
    return good;
}

/*
 * Runs one iteration. If no point moved there is nothing to update, and imbalance and empty
 * clusters keep their values, too. The state's step is replaced at the end, when the iteration is
 * complete.
 */
static bool run_iteration(clustering *run, app_problem *problem) {
    double start = MPI_Wtime();
    km_step step = run->state.step;
    step.iteration++;
    step.previous = step.objective;
    step.refilled = 0;
    memset(step.seconds, 0, sizeof step.seconds);
    broadcast_centroids(run, &step, problem);
    if (!assign_points(run, &step, problem) ||
        (step.moved && !update_centroids(run, &step, problem)))
        return false;
    step.seconds[KM_TOTAL] = MPI_Wtime() - start;
    if (!share_step(run, step.moved > 0, &step, problem))
        return false;
    if (run->rank == 0)
        run->observer->step(&step, run->observer->context);
    run->state.step = step;
    return true;
}

/*
 * Returns whether a step, not the first, made too little difference to continue. *WHY becomes the
 * stopping rule that the step meets.
 */
static bool is_little(const km_settings *settings, const km_step *step, const km_points *points,
                      km_stop *why) {
    double previous = km_points_objective(points, step->previous);
    double gain = previous - km_points_objective(points, step->objective);
    if ((double)step->moved <= settings->moved * (double)points->total)
        *why = KM_STOP_MOVED;
    else if (gain <= settings->gain * previous)
        *why = KM_STOP_GAIN;
    else
        return false;
    return true;
}

/* Returns whether to stop after the last step, and why. */
static bool should_stop(const clustering *run, km_stop *why) {
    const km_settings *settings = run->settings;
    const km_step *step = &run->state.step;
    bool begun = step->iteration > 0;
    if (begun && (!step->moved || step->shift == 0))
        *why = KM_STOP_UNMOVED;
    else if (begun &&
             (step->shift <= settings->tolerance || run->total_shift2 <= settings->total_shift2))
        *why = KM_STOP_TOLERANCE;
    else if (step->iteration > 1 && is_little(settings, step, run->points, why))
        return true;
    else if (step->iteration >= settings->iterations)
        *why = KM_STOP_ITERATIONS;
    else if (settings->seconds >= 0 && run->elapsed >= settings->seconds)
        *why = KM_STOP_SECONDS;
    else
        return false;
    return true;
}

/* Marks all points as pending for the next iteration. */
static void mark_pending(clustering *run) {
    run->state.moved = 0;
    for (size_t i = 0; i < run->points->rows; i++)
        run->state.nearest[i] |= KM_PENDING;
}

static bool run_iterations(clustering *run, km_result *result, app_problem *problem) {
    const km_settings *settings = run->settings;
    km_step *step = &run->state.step, last = {0};
    bool stop = should_stop(run, &result->stop);
    while (!stop) {
        if (!run_iteration(run, problem))
            return false;
        stop = should_stop(run, &result->stop);
        if (stop && result->stop == KM_STOP_UNMOVED)
            break;
        mark_pending(run);
        write_checkpoint_when_due(
            run, stop || (settings->every && step->iteration % settings->every == 0), problem);
    }
    result->iterations = step->iteration;
    result->objective = step->objective;
    if (result->stop == KM_STOP_UNMOVED)
        return app_agree(problem, run->comm);
    /* The centroids have moved since the last assignment. */
    double start = MPI_Wtime();
    broadcast_centroids(run, &last, problem);
    if (!assign_points(run, &last, problem))
        return false;
    result->objective = last.objective;
    result->final_seconds = MPI_Wtime() - start;
    return true;
}

bool km_cluster(const km_points *points, const km_settings *settings, const km_observer *observer,
                MPI_Comm comm, km_result *result, app_problem *problem) {
    clustering run = {.points = points,
                      .settings = settings,
                      .observer = observer,
                      .comm = comm,
                      .rank = app_rank(comm),
                      .checkpoint = {.lock = -1},
                      .total_shift2 = INFINITY,
                      .started = MPI_Wtime()};
    bool resumed;
    run.saved = run.started;
    *result = (km_result){.centroids = NULL};
    if (settings->k < 1 || settings->k > INT32_MAX)
        app_refuse(problem, "k is %" PRIu64 "; 1 to %" PRId32 " are allowed", settings->k,
                   INT32_MAX);
    else if (settings->k > points->total &&
             (settings->iterations || !km_init_is_given(&settings->start)))
        app_refuse(problem, "k is %" PRIu64 ", but there are only %" PRIu64 " points", settings->k,
                   points->total);
    if (!app_agree(problem, comm))
        return false;
    bool good = allocate_state(&run, problem) && open_checkpoint(&run, &resumed, problem);
    if (good)
        note_resumption(&run, resumed);
    good = good && (resumed || choose_centroids(&run, problem));
    result->start_seconds = MPI_Wtime() - run.started;
    good = good && run_iterations(&run, result, problem);
    if (good) {
        result->centroids = run.state.centroids;
        result->nearest = run.state.nearest;
        run.state.centroids = NULL;
        run.state.nearest = NULL;
        result->distance2 = run.distance2;
        run.distance2 = NULL;
    }
    release_state(&run);
    return good;
}

void km_result_free(km_result *result) {
    free(result->centroids);
    free(result->nearest);
    free(result->distance2);
    *result = (km_result){.centroids = NULL};
}
