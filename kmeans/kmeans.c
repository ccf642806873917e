#include "config.h"

#include "kmeans/kmeans.h"

#include "kmeans/assign.h"
#include "kmeans/partial.h"
#include "kmeans/place.h"
#include "kmeans/refill.h"
#include "kmeans/sample.h"
#include "kmeans/update.h"

#include <coll.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All that the steps of the iteration share. */
typedef struct job {
    const km_points *points;
    const km_settings *settings;
    const km_observer *observer;
    MPI_Comm comm;
    int rank;
    uint8_t *centroids;
    uint32_t *nearest;   /* the cluster of each point */
    uint32_t *before;    /* the same in the iteration before */
    uint32_t *distance2; /* of each point to its centroid */
    size_t *order;       /* scratch of km_partial_add */
    size_t *starts;
    uint8_t *old_centroids; /* rank 0 only, as the next */
    uint64_t *counts;
} job;

/* Memory for all iterations at once: then what can fail for want of it fails at the start. */
static bool allocate(job *run, struct problem *problem) {
    size_t rows = run->points->rows + 1, k = run->settings->k,
           bytes = k * km_row_bytes(run->points);
    run->centroids = malloc(bytes);
    run->nearest = malloc(rows * sizeof *run->nearest);
    run->before = malloc(rows * sizeof *run->before);
    run->distance2 = malloc(rows * sizeof *run->distance2);
    run->order = malloc(rows * sizeof *run->order);
    run->starts = malloc((k + 1) * sizeof *run->starts);
    bool good = run->centroids && run->nearest && run->before && run->distance2 && run->order &&
                run->starts;
    if (run->rank == 0) {
        run->old_centroids = malloc(bytes);
        run->counts = malloc(k * sizeof *run->counts);
        good = good && run->old_centroids && run->counts;
    }
    if (!good)
        problem_set(problem,
                    "out of memory for %zu points and %zu centroids of %zu features on a rank",
                    run->points->rows, k, run->points->dim);
    return km_agree(problem, run->comm);
}

static void release(job *run) {
    free(run->counts);
    free(run->old_centroids);
    free(run->starts);
    free(run->order);
    free(run->distance2);
    free(run->before);
    free(run->nearest);
    free(run->centroids);
}

static bool choose_centroids(job *run, struct problem *problem) {
    size_t k = run->settings->k;
    km_place *places = malloc(k * sizeof *places);
    if (!places)
        problem_set(problem, "out of memory");
    bool good = km_agree(problem, run->comm);
    for (size_t j = 0; good && j < k; j++)
        places[j] = (km_place){km_sample_row(run->settings->seed, run->points->total, j), j};
    good = good && km_place_rows(run->points, places, k, run->centroids, run->comm, problem);
    free(places);
    return good;
}

static bool broadcast(job *run, km_step *step, struct problem *problem) {
    double start = MPI_Wtime();
    MPI_Count bytes = (MPI_Count)(run->settings->k * km_row_bytes(run->points));
    km_mpi(problem, COLL_Bcast(run->centroids, bytes, MPI_UINT8_T, 0, run->comm));
    step->seconds[KM_BROADCAST] = MPI_Wtime() - start;
    return km_agree(problem, run->comm);
}

/* The rows to assign between two reports of progress: some seconds of work for a fast core. */
static size_t rows_of_report(const job *run) {
    const uint64_t work = UINT64_C(1) << 40; /* multiplications */
    uint64_t rows = work / run->points->dim / run->settings->k;
    uint64_t least = (uint64_t)1024 * (uint64_t)run->settings->threads;
    return (size_t)(rows > least ? rows : least);
}

static bool assign_rows(job *run, const km_step *step, struct problem *problem) {
    const km_points *points = run->points;
    const km_settings *settings = run->settings;
    km_centroids *centroids;
    int code = km_centroids_create(run->centroids, settings->k, points->dim, settings->kernel,
                                   settings->threads, &centroids);
    if (code)
        return problem_set(problem, "the centroids can't be packed: %s", strerror(code));
    size_t most = rows_of_report(run);
    for (size_t row = 0; !code && row < points->rows; row += most) {
        size_t count = points->rows - row < most ? points->rows - row : most;
        if (run->rank == 0)
            run->observer->progress(step->iteration, (double)row / (double)points->rows,
                                    run->observer->context);
        code = km_assign(points->data + row * km_row_bytes(points), count, points->dim, centroids,
                         settings->threads, run->nearest + row, run->distance2 + row);
    }
    km_centroids_free(centroids);
    return !code || problem_set(problem, "points can't be assigned: %s", strerror(code));
}

/* Assigns every point, and sums up over all ranks what that came to. */
static bool map(job *run, km_step *step, struct problem *problem) {
    double start = MPI_Wtime();
    uint32_t *swap = run->before;
    run->before = run->nearest;
    run->nearest = swap;
    assign_rows(run, step, problem);

    uint64_t sums[2] = {0, 0};
    bool first = step->iteration == 1;
    for (size_t i = 0; !problem->text[0] && i < run->points->rows; i++) {
        sums[0] += km_real_units(&run->points->real, run->distance2[i]);
        sums[1] += first || run->nearest[i] != run->before[i];
    }
    step->seconds[KM_MAP] = MPI_Wtime() - start;
    if (!km_agree(problem, run->comm))
        return false;
    km_mpi(problem, MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, run->comm));
    step->objective = sums[0];
    step->moved = sums[1];
    return km_agree(problem, run->comm);
}

/* The sums of all clusters, in POOL at rank 0. */
static bool aggregate(job *run, COLL_Pool *pool, km_step *step, struct problem *problem) {
    COLL_Aggregate_stats stats = {0};
    double start = MPI_Wtime();
    km_partial_add(run->points, run->nearest, run->settings->k, run->settings->threads, run->order,
                   run->starts, pool, problem);
    step->seconds[KM_LOCAL] = MPI_Wtime() - start;
    if (!km_agree(problem, run->comm))
        return false;
    km_mpi(problem, COLL_Aggregate(pool, 0, run->comm, &stats));
    step->seconds[KM_LOCAL] += stats.local_seconds;
    step->seconds[KM_GROUP_BY] = stats.group_by_seconds;
    step->seconds[KM_GATHER] = stats.gather_seconds;
    return km_agree(problem, run->comm);
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

/* The farthest way that a centroid went, told to all ranks. */
static bool measure_shift(const job *run, km_step *step, struct problem *problem) {
    double farthest = 0;
    size_t bytes = km_row_bytes(run->points);
    for (size_t j = 0; run->rank == 0 && j < run->settings->k; j++) {
        double way =
            km_way2(run->points, run->old_centroids + j * bytes, run->centroids + j * bytes);
        farthest = way > farthest ? way : farthest;
    }
    km_mpi(problem, MPI_Bcast(&farthest, 1, MPI_DOUBLE, 0, run->comm));
    step->shift = sqrt(farthest);
    return km_agree(problem, run->comm);
}

/* New centroids, at rank 0, from the assignment. */
static bool update(job *run, km_step *step, struct problem *problem) {
    size_t k = run->settings->k;
    COLL_Pool *pool = NULL;
    km_partial_pool(run->points, &pool, problem);
    bool good = km_agree(problem, run->comm) && aggregate(run, pool, step, problem);
    if (good && run->rank == 0) {
        memcpy(run->old_centroids, run->centroids, k * km_row_bytes(run->points));
        if (km_update(pool, run->points, k, run->centroids, run->counts, problem))
            count_clusters(run, step);
    }
    COLL_Pool_free(&pool);
    return good && km_agree(problem, run->comm) &&
           km_refill(run->points, run->nearest, run->distance2, run->counts, k, run->centroids,
                     run->comm, &step->refilled, problem) &&
           measure_shift(run, step, problem);
}

/* Rank 0 learns the time of the slowest rank in each phase. */
static bool gather_seconds(const job *run, km_step *step, struct problem *problem) {
    double mine[KM_PHASES];
    memcpy(mine, step->seconds, sizeof mine);
    km_mpi(problem, MPI_Reduce(mine, step->seconds, KM_PHASES, MPI_DOUBLE, MPI_MAX, 0, run->comm));
    return km_agree(problem, run->comm);
}

/* One iteration. Where no point moved there is nothing to update: then all stays as it is. */
static bool iterate(job *run, km_step *step, struct problem *problem) {
    double start = MPI_Wtime();
    if (!broadcast(run, step, problem) || !map(run, step, problem))
        return false;
    if (step->moved && !update(run, step, problem))
        return false;
    step->seconds[KM_TOTAL] = MPI_Wtime() - start;
    if (!gather_seconds(run, step, problem))
        return false;
    if (run->rank == 0)
        run->observer->step(step, run->observer->context);
    return true;
}

/* Whether STEP was the last one, and why. */
static bool stops(const km_settings *settings, const km_step *step, km_stop *why) {
    if (!step->moved || step->shift == 0)
        *why = KM_STOP_UNMOVED;
    else if (step->shift <= settings->tolerance)
        *why = KM_STOP_TOLERANCE;
    else if (step->iteration >= settings->iterations)
        *why = KM_STOP_ITERATIONS;
    else
        return false;
    return true;
}

static bool iterate_all(job *run, km_result *result, struct problem *problem) {
    /* Imbalance and empty clusters stay from before in an iteration that moves no point. */
    km_step step = {0};
    result->stop = KM_STOP_ITERATIONS;
    while (step.iteration < run->settings->iterations) {
        step.iteration++;
        step.refilled = 0;
        step.shift = 0;
        memset(step.seconds, 0, sizeof step.seconds);
        if (!iterate(run, &step, problem))
            return false;
        if (stops(run->settings, &step, &result->stop))
            break;
    }
    result->iterations = step.iteration;
    result->objective = step.objective;
    if (result->stop == KM_STOP_UNMOVED)
        return true;
    /* The centroids have moved since the points were assigned. */
    step.iteration++;
    if (!broadcast(run, &step, problem) || !map(run, &step, problem))
        return false;
    result->objective = step.objective;
    return true;
}

bool km_cluster(const km_points *points, const km_settings *settings, const km_observer *observer,
                MPI_Comm comm, km_result *result, struct problem *problem) {
    job run = {.points = points, .settings = settings, .observer = observer, .comm = comm};
    *result = (km_result){.centroids = NULL};
    if (settings->k < 1 || settings->k > INT32_MAX)
        problem_set(problem, "k is %zu; 1 to %" PRId32 " are allowed", settings->k, INT32_MAX);
    else if (settings->k > points->total)
        problem_set(problem, "k is %zu, but there are only %" PRIu64 " points", settings->k,
                    points->total);
    km_mpi(problem, MPI_Comm_rank(comm, &run.rank));
    if (!km_agree(problem, comm))
        return false;
    bool good = allocate(&run, problem) && choose_centroids(&run, problem) &&
                iterate_all(&run, result, problem);
    if (good) {
        result->centroids = run.centroids;
        result->nearest = run.nearest;
        run.centroids = NULL;
        run.nearest = NULL;
    }
    release(&run);
    return good;
}

void km_result_free(km_result *result) {
    free(result->centroids);
    free(result->nearest);
    *result = (km_result){.centroids = NULL};
}
