#include "config.h"

#include "kmeans/map.h"

#include "kmeans/assign/arrange.h"
#include "kmeans/assign/assign.h"
#include "kmeans/assign/partial.h"
#include "kmeans/points/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
    const km_points *points;
    const km_settings *settings;
    const km_sketches *kept; /* or NULL */
    km_state *state;
    uint32_t *distance2;
    km_centroids *centroids;
    /* The pending points in the order in which they are assigned, and what they were before. */
    size_t *which;
    uint32_t *before, *before2; /* clusters, squared distances */
    size_t pending;
    size_t most;           /* points to assign in a round */
    uint32_t *fresh, *far; /* the clusters of so many, and their squared distances */
} job;

/* The points of a round: some seconds of work for a fast core, less between frequent checkpoints.
 */
static size_t rows_of_round(const km_points *points, const km_settings *settings) {
    const double second = 5e11; /* multiplications, roughly */
    double seconds = 8;
    if (settings->checkpoint && settings->every_seconds >= 0 && settings->every_seconds < seconds)
        seconds = settings->every_seconds;
    uint64_t rows = (uint64_t)(seconds * second) / points->dim / settings->k;
    uint64_t least = (uint64_t)8192 * (uint64_t)settings->threads;
    rows = rows > least ? rows : least;
    return rows < points->rows ? (size_t)rows : points->rows + 1; /* never 0 */
}

static void free_job(job *run) {
    km_centroids_free(run->centroids);
    free(run->which);
    free(run->before);
    free(run->before2);
    free(run->fresh);
    free(run->far);
}

static bool allocate(job *run) {
    size_t rows = run->points->rows + 1, round = run->most;
    run->which = malloc(rows * sizeof *run->which);
    run->before = malloc(rows * sizeof *run->before);
    run->before2 = malloc(rows * sizeof *run->before2);
    run->fresh = malloc(round * sizeof *run->fresh);
    run->far = malloc(round * sizeof *run->far);
    return run->which && run->before && run->before2 && run->fresh && run->far;
}

static void list_pending(job *run) {
    const uint32_t *nearest = run->state->nearest;
    run->pending = 0;
    for (size_t i = 0; i < run->points->rows; i++) {
        if (!(nearest[i] & KM_PENDING))
            continue;
        run->which[run->pending] = i;
        run->before[run->pending] = nearest[i] & ~KM_PENDING;
        run->before2[run->pending++] = run->distance2[i];
    }
}

static int pack_centroids(job *run, const km_sketch *sketch) {
    const uint8_t *rows = run->state->centroids;
    int threads = run->settings->threads;
    int code = km_centroids_create(rows, run->settings->k, run->points->dim, run->settings->kernel,
                                   threads, &run->centroids);
    if (!code && run->points->fine)
        code = km_centroids_refine(run->centroids, rows, threads);
    if (!code && sketch)
        code = km_centroids_sieve(run->centroids, rows, sketch, threads);
    return code;
}

/* The distances of points that were assigned before an interruption. */
static void recall_distances(const job *run) {
    const km_state *state = run->state;
#pragma omp parallel for num_threads(run->settings->threads)
    for (size_t i = 0; i < run->points->rows; i++)
        if (!(state->nearest[i] & KM_PENDING))
            run->distance2[i] =
                km_recall(run->points, i, state->centroids, run->settings->k, state->nearest[i]);
}

/* Guesses the clusters of points of which no earlier ones are known, and arranges them by those. */
static int guess_first(const job *run, const km_query *query, size_t *which, uint32_t *guess) {
    const uint32_t *places = km_centroids_places(run->centroids);
    int threads = run->settings->threads;
    int code = km_guess(query, run->centroids, threads, false, guess, run->far);
    if (!code)
        code = km_arrange(places, run->settings->k, query->n, which, guess, run->far);
    if (!code)
        code = km_guess(query, run->centroids, threads, true, guess, run->far);
    return code ? code : km_arrange(places, run->settings->k, query->n, which, guess, run->far);
}

/*
 * Assigns COUNT of the pending points, from number FIRST of them on. In the first iteration, which
 * knows no clusters of before, those of a round at least come together by guesses.
 */
static int assign_some(const job *run, size_t first, size_t count) {
    const km_query query = {run->points->data, run->points->dim, run->which + first, count,
                            run->kept};
    uint32_t *guess = run->state->step.iteration ? run->before + first : NULL;
    int threads = run->settings->threads, code = 0;
    if (run->kept && !guess) {
        guess = run->fresh;
        code = guess_first(run, &query, run->which + first, guess);
    }
    return code ? code
                : km_assign_again(&query, run->centroids, threads, guess, run->fresh, run->far);
}

static bool assign_round(const job *run, size_t first, size_t count, app_problem *problem) {
    km_state *state = run->state;
    int code = assign_some(run, first, count);
    if (code)
        return app_refuse(problem, "points can't be assigned: %s", strerror(code));
    for (size_t i = 0; i < count; i++) {
        size_t point = run->which[first + i];
        state->moved += run->fresh[i] != (state->nearest[point] & ~KM_PENDING);
        state->nearest[point] = run->fresh[i];
        run->distance2[point] = run->far[i];
    }
    return true;
}

/* Goes through the rounds to the end, also with a problem: the others rely on that. */
static void assign_all(const job *run, double rounds, const km_rounds *watch,
                       app_problem *problem) {
    size_t first = 0, assigned = run->points->rows - run->pending;
    for (double round = 0; round < rounds; round++) {
        size_t left = run->pending - first, count = left < run->most ? left : run->most;
        if (count && !problem->text[0])
            assign_round(run, first, count, problem);
        first += count;
        double done = (double)(assigned + first);
        watch->after(run->points->rows ? done / (double)run->points->rows : 1, watch->context,
                     problem);
    }
}

/* The sum of this rank's squared distances, in units where features are real. */
static uint64_t add_distances(const job *run) {
    uint64_t sum = 0;
    for (size_t i = 0; i < run->points->rows; i++)
        sum += km_real_units(&run->points->real, run->distance2[i]);
    return sum;
}

bool km_map(const km_points *points, const km_settings *settings, const km_sketch *sketch,
            const km_sketches *kept, km_state *state, uint32_t *distance2, const km_rounds *rounds,
            MPI_Comm comm, km_map_sums *sums, app_problem *problem) {
    job run = {.points = points,
               .settings = settings,
               .kept = kept,
               .state = state,
               .distance2 = distance2,
               .most = rows_of_round(points, settings)};
    int code = allocate(&run) ? pack_centroids(&run, sketch) : ENOMEM;
    if (!code)
        list_pending(&run);
    if (!code && kept && state->step.iteration)
        code = km_arrange(km_centroids_places(run.centroids), settings->k, run.pending, run.which,
                          run.before, run.before2);
    if (code)
        app_refuse(problem, "the centroids can't be packed: %s", strerror(code));
    double most =
        (double)km_quotient_up(run.pending, run.most); /* then of the rank with the most */
    bool good = app_agree_most(problem, &most, 1, comm);
    if (good) {
        recall_distances(&run);
        assign_all(&run, most, rounds, problem);
        uint64_t both[2] = {add_distances(&run), state->moved};
        good = app_agree_sum(problem, both, 2, comm);
        *sums = (km_map_sums){.objective = both[0], .moved = both[1]};
    }
    free_job(&run);
    return good;
}
