#include "config.h"

#include "kmeans/map.h"

#include "kmeans/assign/assign.h"
#include "kmeans/assign/partial.h"

#include <stdlib.h>
#include <string.h>

/* Some of this rank's points, all pending. */
typedef struct stretch {
    size_t row, count;
} stretch;

typedef struct job {
    const km_points *points;
    const km_settings *settings;
    const km_sketches *kept; /* or NULL */
    km_state *state;
    uint32_t *distance2;
    size_t most;     /* points to assign in a round */
    uint32_t *fresh; /* the clusters of so many */
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
    return rows < points->rows ? (size_t)rows : points->rows;
}

/* The first pending points from ROW on, no more than a round takes; none at the end. */
static stretch next_stretch(const job *run, size_t row) {
    const uint32_t *nearest = run->state->nearest;
    stretch found = {row, 0};
    while (found.row < run->points->rows && !(nearest[found.row] & KM_PENDING))
        found.row++;
    while (found.count < run->most && found.row + found.count < run->points->rows &&
           (nearest[found.row + found.count] & KM_PENDING))
        found.count++;
    return found;
}

/* The rounds that this rank needs. */
static double count_rounds(const job *run) {
    double rounds = 0;
    for (stretch next = next_stretch(run, 0); next.count;
         next = next_stretch(run, next.row + next.count))
        rounds++;
    return rounds;
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

static bool assign_stretch(const job *run, stretch rows, const km_centroids *centroids,
                           app_problem *problem) {
    km_state *state = run->state;
    const km_points *points = run->points;
    for (size_t i = 0; i < rows.count; i++)
        run->fresh[i] = state->nearest[rows.row + i] & ~KM_PENDING;
    km_sketches kept = {.bytes = NULL};
    if (run->kept)
        kept = km_sketches_from(run->kept, rows.row);
    int code = km_assign_again(points->data + rows.row * km_row_bytes(points), rows.count,
                               points->dim, centroids, run->settings->threads,
                               run->state->step.iteration ? run->fresh : NULL,
                               run->kept ? &kept : NULL, run->fresh, run->distance2 + rows.row);
    if (code)
        return app_refuse(problem, "points can't be assigned: %s", strerror(code));
    for (size_t i = 0; i < rows.count; i++) {
        uint32_t *nearest = &state->nearest[rows.row + i];
        state->moved += run->fresh[i] != (*nearest & ~KM_PENDING);
        *nearest = run->fresh[i];
    }
    return true;
}

/* Goes through the rounds to the end, also with a problem: the others rely on that. */
static void assign_all(const job *run, double rounds, const km_centroids *centroids,
                       const km_rounds *watch, app_problem *problem) {
    stretch next = {0, 0};
    for (double round = 0; round < rounds; round++) {
        next = next_stretch(run, next.row + next.count);
        if (next.count && !problem->text[0])
            assign_stretch(run, next, centroids, problem);
        double done = (double)(next.row + next.count);
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
    job run = {points, settings, kept, state, distance2, rows_of_round(points, settings), NULL};
    km_centroids *centroids = NULL;
    run.fresh = malloc((run.most + 1) * sizeof *run.fresh);
    if (!run.fresh)
        app_refuse(problem, "out of memory");
    int code = km_centroids_create(state->centroids, settings->k, points->dim, settings->kernel,
                                   settings->threads, &centroids);
    if (!code && points->fine)
        code = km_centroids_refine(centroids, state->centroids, settings->threads);
    if (!code && sketch)
        code = km_centroids_sieve(centroids, state->centroids, sketch, settings->threads);
    if (code)
        app_refuse(problem, "the centroids can't be packed: %s", strerror(code));
    double most = count_rounds(&run); /* then of the rank with the most stretches */
    bool good = app_agree_most(problem, &most, 1, comm);
    if (good) {
        recall_distances(&run);
        assign_all(&run, most, centroids, rounds, problem);
        uint64_t both[2] = {add_distances(&run), state->moved};
        good = app_agree_sum(problem, both, 2, comm);
        *sums = (km_map_sums){.objective = both[0], .moved = both[1]};
    }
    km_centroids_free(centroids);
    free(run.fresh);
    return good;
}
