/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/batches.h"

#include "kmeans/points/random.h"

#include <stdlib.h>
#include <string.h>

enum { STREAM = 64, MOST_ITERATIONS = 100 };

/*
 * Returns whether a row is in the batch of about SIZE of TOTAL rows; the row is then in every
 * larger batch, too.
 */
static bool is_drawn(uint64_t seed, uint64_t row, uint64_t size, uint64_t total) {
    return km_random_below(seed, STREAM, row, total) < size;
}

/*
 * Copies this rank's rows of the batch, in their order. The caller frees the data and weights of
 * BATCH.
 */
static bool copy_batch(const km_points *points, uint64_t seed, uint64_t size, km_points *batch,
                       MPI_Comm comm, app_problem *problem) {
    size_t bytes = km_row_bytes(points);
    uint64_t rows = 0;
    *batch = *points;
    batch->storage = (km_point_storage){0};
    for (size_t i = 0; i < points->rows; i++)
        rows += is_drawn(seed, points->first + i, size, points->total);
    batch->data = malloc(rows * bytes + 1);
    batch->weights = points->weights ? malloc((rows + 1) * sizeof *batch->weights) : NULL;
    const bool good = batch->data && (batch->weights || !points->weights);
    if (!good)
        app_refuse(problem, "out of memory for a batch of %zu points on a rank", (size_t)rows);
    batch->rows = 0;
    uint64_t weight = 0;
    for (size_t i = 0; good && i < points->rows; i++) {
        if (!is_drawn(seed, points->first + i, size, points->total))
            continue;
        if (points->weights)
            weight += batch->weights[batch->rows] = points->weights[i];
        memcpy(batch->data + batch->rows++ * bytes, points->data + i * bytes, bytes);
    }
    batch->total = rows;
    batch->weight = weight;
    batch->first = 0;
    app_mpi(problem, MPI_Exscan(&rows, &batch->first, 1, MPI_UINT64_T, MPI_SUM, comm));
    if (app_rank(comm) == 0)
        batch->first = 0; /* MPI_Exscan leaves it undefined on rank 0 */
    uint64_t sums[] = {batch->total, batch->weight};
    if (!app_agree_sum(problem, sums, 2, comm))
        return false;
    batch->total = sums[0];
    batch->weight = sums[1];
    return true;
}

/*
 * Turns *SECONDS, a time limit counted from BEGUN, into the time that is left by rank 0's clock. A
 * negative limit, which means none, stays.
 */
static bool update_time_left(double *seconds, double begun, MPI_Comm comm, app_problem *problem) {
    if (*seconds < 0)
        return true;
    *seconds -= MPI_Wtime() - begun;
    *seconds = *seconds > 0 ? *seconds : 0;
    app_mpi(problem, MPI_Bcast(seconds, 1, MPI_DOUBLE, 0, comm));
    return app_agree(problem, comm);
}

/*
 * Improves CENTROIDS by iterations on the batch of about SIZE points, if it has at least k points
 * and any weight.
 */
static bool run_batch(const km_points *points, uint64_t size, const km_settings *settings,
                      const km_observer *observer, MPI_Comm comm, uint8_t *centroids,
                      app_problem *problem) {
    km_points batch;
    km_result found = {.centroids = NULL};
    bool good = copy_batch(points, settings->seed, size, &batch, comm, problem);
    if (good && batch.total >= settings->k && km_points_weight(&batch) > 0) {
        km_settings here = *settings;
        here.start = (km_init){.rows = centroids};
        here.iterations = MOST_ITERATIONS;
        here.tolerance = here.moved = -1;
        here.gain = (double)settings->k / (double)batch.total;
        if (app_rank(comm) == 0)
            observer->batch(batch.total, observer->context);
        good = km_cluster(&batch, &here, observer, comm, &found, problem);
        if (good)
            memcpy(centroids, found.centroids, km_centroids_bytes(points, settings->k));
        km_result_free(&found);
    }
    free(batch.weights);
    free(batch.data);
    return good;
}

/* Reports the objective of CENTROIDS over all points. */
static bool report_quality(const km_points *points, const km_settings *settings,
                           const km_observer *observer, MPI_Comm comm, const uint8_t *centroids,
                           app_problem *problem) {
    km_settings none = *settings;
    km_result found = {.centroids = NULL};
    none.start = (km_init){.rows = centroids};
    none.iterations = 0;
    bool good = km_cluster(points, &none, observer, comm, &found, problem);
    if (good && app_rank(comm) == 0)
        observer->quality(found.objective, observer->context);
    km_result_free(&found);
    return good;
}

/*
 * Allocates *CENTROIDS on all ranks, and sets it at rank 0 to the initial centroids. The caller
 * frees *CENTROIDS, also after a failure.
 */
static bool choose_start(const km_points *points, const km_settings *settings, MPI_Comm comm,
                         uint8_t **centroids, app_problem *problem) {
    const km_seeding seeding = {.points = points,
                                .k = settings->k,
                                .start = &settings->start,
                                .seed = settings->seed,
                                .threads = settings->threads,
                                .kernel = settings->kernel,
                                .comm = comm};
    *centroids = malloc(km_centroids_bytes(points, settings->k));
    if (!*centroids)
        app_refuse(problem, "out of memory for the centroids");
    return app_agree(problem, comm) && km_init_choose(&seeding, *centroids, problem);
}

bool km_cluster_batches(const km_points *points, const km_batches *batches,
                        const km_settings *settings, const km_observer *observer, MPI_Comm comm,
                        km_result *result, app_problem *problem) {
    km_settings here = *settings;
    uint8_t *centroids = NULL;
    double begun = MPI_Wtime();
    bool good = choose_start(points, settings, comm, &centroids, problem);
    double start_seconds = MPI_Wtime() - begun;
    uint64_t size = batches->size, every = batches->quality_every;
    for (uint64_t count = 1; good && size < points->total; count++, size *= 2) {
        here.seconds = settings->seconds;
        good = update_time_left(&here.seconds, begun, comm, problem) &&
               run_batch(points, size, &here, observer, comm, centroids, problem);
        if (good && every && count % every == 0)
            good = report_quality(points, &here, observer, comm, centroids, problem);
    }
    here.seconds = settings->seconds;
    here.start = (km_init){.rows = centroids};
    if (good && app_rank(comm) == 0)
        observer->batch(points->total, observer->context);
    good = good && update_time_left(&here.seconds, begun, comm, problem) &&
           km_cluster(points, &here, observer, comm, result, problem);
    if (good)
        result->start_seconds = start_seconds;
    free(centroids);
    return good;
}
