/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/map.h"

#include "kmeans/assign/assign.h"
#include "kmeans/assign/cluster_sums.h"
#include "kmeans/assign/reorder_points.h"
#include "kmeans/points/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    GUESSES = 8
}; /* a round of guesses covers this many times the points of a round of assignments */

typedef struct map_job {
    const km_map_args *in;
    km_centroids *centroids;
    /* The pending points in the order of assignment, and their clusters and distances. */
    size_t *which;      /* NULL: all points, in their own order */
    uint32_t *clusters; /* previous or guessed clusters; after a point's round, its nearest one */
    uint32_t *before2;  /* previous or guessed squared distances; NULL without cached sketches */
    bool guesses;
    size_t pending;
    size_t most;   /* the most points to assign in a round */
    uint32_t *far; /* new squared distances of a round's points; NULL if WHICH is NULL */
} map_job;

/*
 * Returns the number of points in a round: some seconds of work for a fast core, less if
 * checkpoints are more frequent.
 */
static size_t rows_of_round(const km_points *points, const km_settings *settings) {
    const double second = 5e11; /* rough number of multiplications per second */
    double seconds = 8;
    if (settings->checkpoint && settings->every_seconds >= 0 && settings->every_seconds < seconds)
        seconds = settings->every_seconds;
    uint64_t rows = (uint64_t)(seconds * second) / points->dim / settings->k;
    uint64_t least = (uint64_t)8192 * (uint64_t)settings->threads;
    rows = rows > least ? rows : least;
    return rows < points->rows ? (size_t)rows : points->rows + 1; /* + 1: never 0 */
}

static void free_job(map_job *run) {
    km_centroids_free(run->centroids);
    free(run->which);
    free(run->clusters);
    free(run->before2);
    free(run->far);
}

static size_t count_pending(const map_job *run) {
    const uint32_t *nearest = run->in->state->nearest;
    size_t pending = 0;
#pragma omp parallel for num_threads(run->in->settings->threads) reduction(+ : pending)
    for (size_t i = 0; i < run->in->points->rows; i++)
        pending += (nearest[i] & KM_PENDING) != 0;
    return pending;
}

static bool allocate_job(map_job *run) {
    size_t rows = run->in->points->rows + 1;
    run->clusters = malloc(rows * sizeof *run->clusters);
    if (run->in->kept)
        run->before2 = malloc(rows * sizeof *run->before2);
    if (!run->clusters || (run->in->kept && !run->before2))
        return false;
    if (!run->in->kept && run->pending == run->in->points->rows)
        return true;
    run->which = malloc(rows * sizeof *run->which);
    run->far = malloc(run->most * sizeof *run->far);
    return run->which && run->far;
}

static void list_pending(map_job *run) {
    const uint32_t *nearest = run->in->state->nearest;
    if (!run->which) {
#pragma omp parallel for num_threads(run->in->settings->threads)
        for (size_t i = 0; i < run->pending; i++)
            run->clusters[i] = nearest[i] & ~KM_PENDING;
        return;
    }
    for (size_t i = 0, n = 0; i < run->in->points->rows; i++) {
        if (!(nearest[i] & KM_PENDING))
            continue;
        run->which[n] = i;
        if (run->before2)
            run->before2[n] = run->in->distance2[i];
        run->clusters[n++] = nearest[i] & ~KM_PENDING;
    }
}

static int pack_centroids(map_job *run) {
    const uint8_t *rows = run->in->state->centroids;
    int threads = run->in->settings->threads;
    int code = km_centroids_create(rows, run->in->settings->k, run->in->points->dim,
                                   run->in->points->real.used, run->in->settings->kernel, threads,
                                   &run->centroids);
    if (!code && run->in->points->fixed_point)
        code = km_centroids_use_fixed_point(run->centroids, rows, threads);
    km_group_bounds *bounds = run->in->bounds;
    if (bounds && !km_group_bounds_begin(bounds, (const float *)rows, run->in->distance2))
        bounds = NULL;
    if (!code && (bounds || run->in->codes))
        code = km_centroids_use_caches(run->centroids, rows, bounds, run->in->codes, threads);
    if (!code && run->in->projection)
        code = km_centroids_prune(run->centroids, rows, run->in->projection, threads);
    return code;
}

/* Recomputes the distances of points that were assigned before an interruption. */
static void recall_distances(const map_job *run) {
    const km_state *state = run->in->state;
    if (run->pending == run->in->points->rows)
        return;
#pragma omp parallel for num_threads(run->in->settings->threads)
    for (size_t i = 0; i < run->in->points->rows; i++)
        if (!(state->nearest[i] & KM_PENDING))
            run->in->distance2[i] = km_point_distance2(run->in->points, i, state->centroids,
                                                       run->in->settings->k, state->nearest[i]);
}

/* A range of the pending points: COUNT of them from number FIRST on. */
typedef struct point_range {
    size_t first, count;
} point_range;

static km_query query_of(const map_job *run, point_range some) {
    return (km_query){.rows = run->in->points->data,
                      .dim = run->in->points->dim,
                      .which = run->which ? run->which + some.first : NULL,
                      .first = some.first,
                      .n = some.count,
                      .kept = run->in->kept};
}

/*
 * Sorts a range so that points near each other come together, by their previous or guessed
 * clusters.
 */
static int sort_range(const map_job *run, point_range some) {
    return km_reorder_points(km_centroids_positions(run->centroids), run->in->settings->k,
                             some.count, run->which + some.first, run->clusters + some.first,
                             run->before2 + some.first);
}

/* Guesses clusters; if AGAIN, improves the guesses, which is quick if the points are sorted. */
static int guess_range(const map_job *run, point_range some, bool again) {
    const km_query query = query_of(run, some);
    return km_guess(&query, run->centroids, run->in->settings->threads, again,
                    run->clusters + some.first, run->before2 + some.first);
}

/*
 * Makes the first guesses of an iteration without previous clusters. The last of these rounds then
 * sorts all points.
 */
static int guess_round(const map_job *run, point_range some) {
    const point_range all = {0, run->pending};
    int code = guess_range(run, some, false);
    return code || some.first + some.count < run->pending ? code : sort_range(run, all);
}

static int assign_round(const map_job *run, point_range some) {
    km_state *state = run->in->state;
    const km_query query = query_of(run, some);
    bool known = run->guesses || state->step.iteration;
    int code = run->guesses ? guess_range(run, some, true) : 0;
    if (!code && run->guesses)
        code = sort_range(run, some);
    uint32_t *clusters = run->clusters + some.first;
    if (!code)
        code = km_assign_query(&query, run->centroids, run->in->settings->threads,
                               known ? clusters : NULL, clusters,
                               run->far ? run->far : run->in->distance2 + some.first);
    uint64_t moved = 0;
#pragma omp parallel for num_threads(run->in->settings->threads) reduction(+ : moved)
    for (size_t i = 0; i < (code ? 0 : some.count); i++) {
        size_t point = query.which ? query.which[i] : some.first + i;
        moved += clusters[i] != (state->nearest[point] & ~KM_PENDING);
        state->nearest[point] = clusters[i];
        if (run->far)
            run->in->distance2[point] = run->far[i];
    }
    state->moved += moved;
    return code;
}

/*
 * Returns the number of guessing rounds that this rank needs; these rounds take much less time than
 * assignments.
 */
static size_t guess_rounds(const map_job *run) {
    return run->guesses ? km_quotient_up(run->pending, GUESSES * run->most) : 0;
}

/* Returns the range of points of a round. */
static point_range range_of_round(const map_job *run, size_t round) {
    size_t guesses = guess_rounds(run), most = round < guesses ? GUESSES * run->most : run->most;
    size_t first = (round < guesses ? round : round - guesses) * most;
    first = first < run->pending ? first : run->pending;
    return (point_range){first, run->pending - first < most ? run->pending - first : most};
}

/* Runs all rounds, also with a problem, because all ranks must take part in each round. */
static void assign_all(const map_job *run, double rounds, app_problem *problem) {
    const km_rounds *watch = run->in->rounds;
    size_t rows = run->in->points->rows, guesses = guess_rounds(run);
    for (size_t round = 0; (double)round < rounds; round++) {
        point_range some = range_of_round(run, round);
        int code = 0;
        if (some.count && !problem->text[0])
            code = round < guesses ? guess_round(run, some) : assign_round(run, some);
        if (code)
            app_refuse(problem, "points can't be assigned: %s", strerror(code));
        size_t here = round < guesses ? 0 : some.first + some.count;
        size_t assigned = rows - run->pending + here;
        watch->after(rows ? (double)assigned / (double)rows : 1, watch->context, problem);
    }
}

/*
 * Sets *OBJECTIVE to the weighted sum of the squared distances of all ranks' points, and *MOVED to
 * its own sum over all ranks.
 */
static bool add_distances(const map_job *run, uint64_t *objective, uint64_t *moved,
                          app_problem *problem) {
    const MPI_Comm comm = run->in->comm;
    const km_points *points = run->in->points;
    const bool real = km_has_real_distances(points);
    uint64_t sums[KM_REAL_BINS + 1] = {0}; /* bins, or one sum; then the number of moved points */
    int count = real ? KM_REAL_BINS : 1;
#pragma omp parallel for num_threads(run->in->settings->threads) reduction(+ : sums)
    for (size_t i = 0; i < points->rows; i++)
        if (real)
            km_real_add_to_bins(sums, run->in->distance2[i], km_point_weight(points, i));
        else
            sums[0] += run->in->distance2[i] * km_point_weight(points, i);
    sums[count] = *moved;
    app_mpi(problem, MPI_Allreduce(MPI_IN_PLACE, sums, count + 1, MPI_UINT64_T, MPI_SUM, comm));
    bool good = app_agree(problem, comm);
    *objective = real ? km_real_sum_bins(sums) : sums[0];
    *moved = sums[count];
    return good;
}

bool km_map(const km_map_args *in, km_map_sums *sums, app_problem *problem) {
    map_job run = {.in = in, .most = rows_of_round(in->points, in->settings)};
    run.pending = count_pending(&run);
    int code = allocate_job(&run) ? pack_centroids(&run) : ENOMEM;
    if (!code)
        list_pending(&run);
    run.guesses = in->kept && !in->state->step.iteration;
    if (!code && in->kept && !run.guesses)
        code = sort_range(&run, (point_range){0, run.pending});
    if (code)
        app_refuse(problem, "the centroids can't be packed: %s", strerror(code));
    /* The number of this rank's rounds, and then the largest number of any rank. */
    double most = (double)(guess_rounds(&run) + km_quotient_up(run.pending, run.most));
    bool good = app_agree_most(problem, &most, 1, in->comm);
    if (good) {
        recall_distances(&run);
        assign_all(&run, most, problem);
        *sums = (km_map_sums){.moved = in->state->moved};
        good = add_distances(&run, &sums->objective, &sums->moved, problem);
    }
    free_job(&run);
    return good;
}
