#include "config.h"

#include "kmeans/kmeans.h"

#include "kmeans/assign/partial.h"
#include "kmeans/assign/refill.h"
#include "kmeans/checkpoint.h"
#include "kmeans/map.h"

#include <coll.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_BYTES = 1 << 28 };

/* All that the steps of the iteration share. */
typedef struct job {
    const km_points *points;
    const km_settings *settings;
    const km_observer *observer;
    MPI_Comm comm;
    int rank;
    km_state state;
    uint32_t *distance2; /* of each point to its centroid */
    size_t window;       /* points that are summed up at once: a bounded part of their memory */
    size_t *order;       /* scratch of km_partial_add, for a window */
    size_t *starts;
    km_sketch *sketch; /* NULL where there is none */
    km_sketches kept;  /* of this rank's points, or NULLs */
    bool sketched;
    uint8_t *old_centroids; /* rank 0 only, as the next */
    uint64_t *counts;
    km_checkpoint checkpoint;
    km_identity identity;
    double started, elapsed; /* seconds: of the clock, and since then by rank 0's, on all ranks */
    double saved;            /* when the last checkpoint was done, or the run began; at rank 0 */
    double saving;           /* seconds spent on checkpoints */
} job;

/* Memory for all iterations at once: then what can fail for want of it fails at the start. */
static bool allocate(job *run, app_problem *problem) {
    size_t rows = run->points->rows + 1, k = run->settings->k,
           bytes = km_centroids_bytes(run->points, k);
    run->state.centroids = malloc(bytes);
    run->state.nearest = malloc(rows * sizeof *run->state.nearest);
    run->distance2 = calloc(rows, sizeof *run->distance2);
    run->window = WINDOW_BYTES / run->points->dim < rows ? WINDOW_BYTES / run->points->dim : rows;
    run->order = malloc(run->window * sizeof *run->order);
    run->starts = malloc((k + 1) * sizeof *run->starts);
    bool good =
        run->state.centroids && run->state.nearest && run->distance2 && run->order && run->starts;
    if (run->rank == 0) {
        run->old_centroids = malloc(bytes);
        run->counts = malloc(k * sizeof *run->counts);
        good = good && run->old_centroids && run->counts;
    }
    if (!good)
        app_refuse(problem,
                   "out of memory for %zu points and %zu centroids of %zu features on a rank",
                   run->points->rows, k, run->points->dim);
    return app_agree(problem, run->comm);
}

static void release(job *run) {
    km_checkpoint_close(&run->checkpoint);
    km_sketch_free(run->sketch);
    km_sketches_free(&run->kept);
    free(run->counts);
    free(run->old_centroids);
    free(run->starts);
    free(run->order);
    free(run->distance2);
    free(run->state.nearest);
    free(run->state.centroids);
}

/* What this clustering is, by which a checkpoint is known to be its own. */
static bool identify(job *run, app_problem *problem) {
    const km_settings *settings = run->settings;
    run->identity = (km_identity){.total = run->points->total,
                                  .dim = run->points->dim,
                                  .k = settings->k,
                                  .bytes = km_centroids_bytes(run->points, settings->k),
                                  .seed = settings->seed};
    if (run->rank == 0)
        km_start_describe(&settings->start, run->identity.start, problem);
    return app_agree(problem, run->comm) &&
           km_fingerprint(run->points, settings->threads, run->comm, &run->identity.fingerprint,
                          problem);
}

/* Opens the checkpoints, if any are asked for, and goes back to the last one; or begins. */
static bool restore(job *run, bool *resumed, app_problem *problem) {
    const km_settings *settings = run->settings;
    bool found;
    *resumed = false;
    memset(run->state.nearest, 0xff, run->points->rows * sizeof *run->state.nearest);
    if (!settings->checkpoint)
        return true;
    if (!identify(run, problem) ||
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

/* What is to be known about RESUMED, where resuming was asked for. */
static void note_start(const job *run, bool resumed) {
    char text[128];
    if (run->rank > 0 || !run->settings->resume)
        return;
    if (resumed)
        snprintf(text, sizeof text, "resumed after iteration %" PRId64, run->state.step.iteration);
    else
        snprintf(text, sizeof text, "no checkpoint yet: starts from the beginning");
    run->observer->note(text, run->observer->context);
}

/* Keeps the state on disk. Where that fails the run goes on, for the last checkpoint stays. */
static void save(job *run) {
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

/* Saves when it is time by rank 0's clock, or NOW, which is the same on all ranks. */
static void save_when_due(job *run, bool now, app_problem *problem) {
    const km_settings *settings = run->settings;
    if (!settings->checkpoint)
        return;
    int due = now ||
              (settings->every_seconds >= 0 && MPI_Wtime() - run->saved >= settings->every_seconds);
    if (app_mpi(problem, MPI_Bcast(&due, 1, MPI_INT, 0, run->comm)) && due)
        save(run);
}

static bool choose_centroids(job *run, app_problem *problem) {
    const km_settings *settings = run->settings;
    km_seeding seeding = {.points = run->points,
                          .k = settings->k,
                          .start = &settings->start,
                          .seed = settings->seed,
                          .threads = settings->threads,
                          .kernel = settings->kernel,
                          .comm = run->comm};
    return km_start_choose(&seeding, run->state.centroids, problem);
}

/* A problem is left to map, which agrees on it. */
static void broadcast(job *run, km_step *step, app_problem *problem) {
    double start = MPI_Wtime();
    MPI_Count bytes = (MPI_Count)km_centroids_bytes(run->points, run->settings->k);
    app_mpi(problem, COLL_Bcast(run->state.centroids, bytes, MPI_UINT8_T, 0, run->comm));
    step->seconds[KM_BROADCAST] = MPI_Wtime() - start;
}

static void after_round(double done, void *context, app_problem *problem) {
    job *run = context;
    if (run->rank == 0)
        run->observer->progress(run->state.step.iteration + 1, done, run->observer->context);
    save_when_due(run, false, problem);
}

/*
 * The sketch of all iterations, from the first one's centroids: these are the same on all ranks.
 * Points' sketches are kept in memory where the points are, and where there is enough of it.
 */
static void make_sketch(job *run, app_problem *problem) {
    const km_settings *settings = run->settings;
    if (!run->sketched && !problem->text[0] && !settings->whole && !settings->kernel->real &&
        km_sketch_create(run->state.centroids, settings->k, run->points->dim, &run->sketch))
        app_refuse(problem, "out of memory");
    if (!run->sketched && run->sketch && !run->points->room.map)
        km_sketches_create(run->points->rows, run->sketch, &run->kept);
    run->sketched = true;
}

/* Assigns every point, and sums up over all ranks what that came to. */
static bool map(job *run, km_step *step, app_problem *problem) {
    const km_rounds rounds = {after_round, run};
    double start = MPI_Wtime(), saving = run->saving;
    km_map_sums sums = {0};
    make_sketch(run, problem);
    bool good =
        km_map(run->points, run->settings, run->sketch, run->kept.corrections ? &run->kept : NULL,
               &run->state, run->distance2, &rounds, run->comm, &sums, problem);
    step->seconds[KM_MAP] = MPI_Wtime() - start - (run->saving - saving);
    step->objective = sums.objective;
    step->moved = sums.moved;
    return good;
}

/*
 * Adds this rank's points to POOL, a window after the other: within one they are visited cluster by
 * cluster, which should not go all over points that are on disk.
 */
static bool add_partials(job *run, COLL_Pool *pool, app_problem *problem) {
    for (size_t row = 0; row < run->points->rows; row += run->window) {
        km_points part = *run->points;
        part.data += row * km_row_bytes(&part);
        part.rows = part.rows - row < run->window ? part.rows - row : run->window;
        if (!km_partial_add(&part, run->state.nearest + row, run->settings->k,
                            run->settings->threads, run->order, run->starts, pool, problem))
            return false;
    }
    return true;
}

/*
 * The sums of all clusters, in POOL at rank 0. False where all ranks have the same problem; true
 * with a problem of this rank's own where the aggregation failed, which km_refill agrees on.
 */
static bool aggregate(job *run, COLL_Pool *pool, km_step *step, app_problem *problem) {
    COLL_Aggregate_stats stats = {0};
    double start = MPI_Wtime();
    if (pool)
        add_partials(run, pool, problem);
    step->seconds[KM_LOCAL] = MPI_Wtime() - start;
    if (!app_agree(problem, run->comm))
        return false;
    app_mpi(problem, COLL_Aggregate(pool, 0, run->comm, &stats));
    step->seconds[KM_LOCAL] += stats.local_seconds;
    step->seconds[KM_GROUP_BY] = stats.group_by_seconds;
    step->seconds[KM_GATHER] = stats.gather_seconds;
    return true;
}

/* At rank 0: what the counts of the clusters say. */
static void count_clusters(const job *run, km_step *step) {
    double squares = 0, total = (double)run->points->total;
    step->empty = 0;
    for (size_t j = 0; j < run->settings->k; j++) {
        squares += (double)run->counts[j] * (double)run->counts[j];
        step->empty += run->counts[j] == 0;
    }
    step->imbalance = squares * (double)run->settings->k / (total * total);
}

/* The farthest way that a centroid went, at rank 0, to the power of 2; 0 elsewhere. */
static double farthest_way2(const job *run) {
    double farthest = 0;
    size_t k = run->settings->k;
    for (size_t j = 0; run->rank == 0 && j < k; j++) {
        double way = km_way2(run->points, k, run->old_centroids, run->state.centroids, j);
        farthest = way > farthest ? way : farthest;
    }
    return farthest;
}

/* New centroids, at rank 0, from the assignment. */
static bool update(job *run, km_step *step, app_problem *problem) {
    size_t k = run->settings->k;
    COLL_Pool *pool = NULL;
    km_partial_pool(run->points, &pool, problem);
    bool good = aggregate(run, pool, step, problem);
    if (good && run->rank == 0 && !problem->text[0]) {
        memcpy(run->old_centroids, run->state.centroids, km_centroids_bytes(run->points, k));
        if (km_update(pool, run->points, k, run->state.centroids, run->counts, problem))
            count_clusters(run, step);
    }
    COLL_Pool_free(&pool);
    return good && km_refill(run->points, run->state.nearest, run->distance2, run->counts, k,
                             run->state.centroids, run->settings->threads, run->comm,
                             &step->refilled, problem);
}

/*
 * All ranks learn what the stopping rules go by, alike: the farthest way of a centroid, where they
 * were UPDATED, and rank 0's time. And the time of the slowest rank in each phase.
 */
static bool share_step(job *run, bool updated, km_step *step, app_problem *problem) {
    double most[KM_PHASES + 2] = {0};
    memcpy(most, step->seconds, sizeof step->seconds);
    if (run->rank == 0)
        most[KM_PHASES] = MPI_Wtime() - run->started;
    if (updated)
        most[KM_PHASES + 1] = farthest_way2(run);
    bool good = app_agree_most(problem, most, KM_PHASES + 2, run->comm);
    memcpy(step->seconds, most, sizeof step->seconds);
    run->elapsed = most[KM_PHASES];
    step->shift = sqrt(most[KM_PHASES + 1]);
    return good;
}

/*
 * One iteration. Where no point moved there is nothing to update: then all stays as it is,
 * imbalance and empty clusters too. The state's step changes at the end, when the iteration is
 * complete.
 */
static bool iterate(job *run, app_problem *problem) {
    double start = MPI_Wtime();
    km_step step = run->state.step;
    step.iteration++;
    step.previous = step.objective;
    step.refilled = 0;
    memset(step.seconds, 0, sizeof step.seconds);
    broadcast(run, &step, problem);
    if (!map(run, &step, problem) || (step.moved && !update(run, &step, problem)))
        return false;
    step.seconds[KM_TOTAL] = MPI_Wtime() - start;
    if (!share_step(run, step.moved > 0, &step, problem))
        return false;
    if (run->rank == 0)
        run->observer->step(&step, run->observer->context);
    run->state.step = step;
    return true;
}

/* Whether a step, not the first, made too little difference to go on, and in what. */
static bool is_little(const km_settings *settings, const km_step *step, const km_points *points,
                      km_stop *why) {
    double previous = km_real_objective(&points->real, step->previous);
    double gain = previous - km_real_objective(&points->real, step->objective);
    if ((double)step->moved <= settings->moved * (double)points->total)
        *why = KM_STOP_MOVED;
    else if (gain <= settings->gain * previous)
        *why = KM_STOP_GAIN;
    else
        return false;
    return true;
}

/* Whether the last step was the last one, and why. */
static bool stops(const job *run, km_stop *why) {
    const km_settings *settings = run->settings;
    const km_step *step = &run->state.step;
    bool begun = step->iteration > 0;
    if (begun && (!step->moved || step->shift == 0))
        *why = KM_STOP_UNMOVED;
    else if (begun && step->shift <= settings->tolerance)
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

/* After an iteration that isn't the end: all points are to be assigned again. */
static void begin_next(job *run) {
    run->state.moved = 0;
    for (size_t i = 0; i < run->points->rows; i++)
        run->state.nearest[i] |= KM_PENDING;
}

static bool iterate_all(job *run, km_result *result, app_problem *problem) {
    const km_settings *settings = run->settings;
    km_step *step = &run->state.step, last = {0};
    bool stop = stops(run, &result->stop);
    while (!stop) {
        if (!iterate(run, problem))
            return false;
        stop = stops(run, &result->stop);
        if (stop && result->stop == KM_STOP_UNMOVED)
            break;
        begin_next(run);
        save_when_due(run, stop || (settings->every && step->iteration % settings->every == 0),
                      problem);
    }
    result->iterations = step->iteration;
    result->objective = step->objective;
    if (result->stop == KM_STOP_UNMOVED)
        return app_agree(problem, run->comm);
    /* The centroids have moved since the points were assigned. */
    broadcast(run, &last, problem);
    if (!map(run, &last, problem))
        return false;
    result->objective = last.objective;
    return true;
}

bool km_cluster(const km_points *points, const km_settings *settings, const km_observer *observer,
                MPI_Comm comm, km_result *result, app_problem *problem) {
    job run = {.points = points,
               .settings = settings,
               .observer = observer,
               .comm = comm,
               .rank = app_rank(comm),
               .checkpoint = {.lock = -1},
               .started = MPI_Wtime()};
    bool resumed;
    run.saved = run.started;
    *result = (km_result){.centroids = NULL};
    if (settings->k < 1 || settings->k > INT32_MAX)
        app_refuse(problem, "k is %" PRIu64 "; 1 to %" PRId32 " are allowed", settings->k,
                   INT32_MAX);
    else if (settings->k > points->total)
        app_refuse(problem, "k is %" PRIu64 ", but there are only %" PRIu64 " points", settings->k,
                   points->total);
    if (!app_agree(problem, comm))
        return false;
    bool good = allocate(&run, problem) && restore(&run, &resumed, problem);
    if (good)
        note_start(&run, resumed);
    good =
        good && (resumed || choose_centroids(&run, problem)) && iterate_all(&run, result, problem);
    if (good) {
        result->centroids = run.state.centroids;
        result->nearest = run.state.nearest;
        run.state.centroids = NULL;
        run.state.nearest = NULL;
    }
    release(&run);
    return good;
}

void km_result_free(km_result *result) {
    free(result->centroids);
    free(result->nearest);
    *result = (km_result){.centroids = NULL};
}
