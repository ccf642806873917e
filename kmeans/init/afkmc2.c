/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AFK-MC2: k-means++ with Markov chains. Each centroid after the first is the end of a chain of
 * candidates, which are drawn beforehand: with a probability of 1/2 uniformly among all points, and
 * otherwise in proportion to the squared distance from the first centroid (this mixture is the
 * proposal q). If points have weights, both draws are also in proportion to the weights. The
 * weights then occur in d as in q, and cancel out of the probability below; so d and q are used
 * without weights. A chain moves from x to the next candidate y with a probability of
 * min(1, d(y) q(x) / (d(x) q(y))), d being the squared distance from the nearest centroid so far.
 *
 * As q doesn't depend on the chain, candidates for many chains are sent to rank 0 at once, where
 * the assignment kernel computes their distances from all centroids so far.
 *
 * Cost: two passes over the points for each batch of candidates, of BATCH bytes; chain * k^2 * dim
 * / 2 multiplications at rank 0; and 12 bytes a point.
 * Source: Bachem et al., "Fast and provably good seedings for k-means", NIPS 2016, algorithm 1.
 */
#include "config.h"

#include "kmeans/assign/assign.h"
#include "kmeans/assign/cluster_sums.h"
#include "kmeans/init/draw.h"
#include "kmeans/init/init.h"
#include "kmeans/points/random.h"
#include "kmeans/points/rows.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 1 << 26, STREAM_COIN = 2, STREAM_ROW, STREAM_PLACE, STREAM_STEP };

typedef struct afkmc2_job {
    const km_seeding *seeding;
    const km_points *points;
    size_t dim, bytes, chain; /* BYTES of a row, candidates of a CHAIN */
    size_t most;              /* the most candidates in a batch */
    uint64_t *first2;         /* each point's weighted squared distance from the first centroid */
    uint64_t total2;          /* sum of first2 over all ranks */
    double unit;              /* factor for squared distances (km_draw_unit) */
    uint64_t *draws;          /* scratch: places, and the rows at them */
    km_place *places;         /* the candidates' rows */
    /* The members below are only used at rank 0. */
    uint8_t *candidates;
    uint32_t *nearest2; /* each candidate's squared distance from the nearest centroid */
    uint32_t *nearest;  /* scratch memory */
    double *proposal;   /* 2 q of each candidate */
} afkmc2_job;

static bool allocate_job(afkmc2_job *run, app_problem *problem) {
    run->first2 = malloc((run->points->rows + 1) * sizeof *run->first2);
    run->draws = malloc(2 * run->most * sizeof *run->draws);
    run->places = malloc(run->most * sizeof *run->places);
    bool good = run->first2 && run->draws && run->places;
    if (app_rank(run->seeding->comm) == 0) {
        run->candidates = malloc(run->most * run->bytes);
        run->nearest2 = malloc(run->most * sizeof *run->nearest2);
        run->nearest = malloc(run->most * sizeof *run->nearest);
        run->proposal = malloc(run->most * sizeof *run->proposal);
        good = good && run->candidates && run->nearest2 && run->nearest && run->proposal;
    }
    if (!good)
        app_refuse(problem, "out of memory for chains of %zu candidates", run->chain);
    return app_agree(problem, run->seeding->comm);
}

static void release_job(afkmc2_job *run) {
    free(run->proposal);
    free(run->nearest);
    free(run->nearest2);
    free(run->candidates);
    free(run->places);
    free(run->draws);
    free(run->first2);
}

/* Returns the squared distance between two rows, converted with run->unit. */
static uint64_t weight_of(const afkmc2_job *run, const uint8_t *a, const uint8_t *b) {
    return km_real_to_units(run->unit, km_rows_distance2(run->points, a, b));
}

/* Chooses the first centroid, and computes the weighted distances from it. */
static bool choose_first(afkmc2_job *run, uint8_t *centroids, app_problem *problem) {
    const km_seeding *seeding = run->seeding;
    uint64_t row;
    if (!km_draw_first(run->points, seeding->seed, &row, seeding->comm, problem) ||
        !km_draw_fetch(run->points, row, centroids, seeding->comm, problem))
        return false;
    uint32_t *distance2 = malloc((run->points->rows + 1) * sizeof *distance2);
    if (!distance2)
        app_refuse(problem, "out of memory");
    bool good = app_agree(problem, seeding->comm);
    if (good) {
        memset(distance2, 0xff, run->points->rows * sizeof *distance2);
        km_draw_lower(run->points, run->points->data, run->points->rows, centroids,
                      seeding->threads, distance2);
        good = km_draw_unit(run->points, distance2, seeding->comm, &run->unit, problem);
    }
    for (size_t i = 0; good && i < run->points->rows; i++)
        run->first2[i] =
            km_real_to_units(run->unit, distance2[i]) * km_point_weight(run->points, i);
    free(distance2);
    if (!good)
        return false;
    return km_draw_total(run->points, run->first2, &run->total2, seeding->comm, problem);
}

/* A draw: a place among the weights of all points, and the candidate for which it is drawn. */
typedef struct draw {
    uint64_t place, candidate;
} draw;

static int compare_draws(const void *a, const void *b) {
    const draw *left = a, *right = b;
    return (left->place > right->place) - (left->place < right->place);
}

/* Finds the rows of COUNT draws in proportion to WEIGHTS, the weights of this rank's points. */
static bool find_rows(afkmc2_job *run, const uint64_t *weights, draw *draws, size_t count,
                      app_problem *problem) {
    uint64_t *rows = run->draws + run->most;
    qsort(draws, count, sizeof *draws, compare_draws);
    for (size_t i = 0; i < count; i++)
        run->draws[i] = draws[i].place;
    if (!km_draw_rows(run->points, weights, run->draws, count, rows, run->seeding->comm, problem))
        return false;
    for (size_t i = 0; i < count; i++)
        run->places[draws[i].candidate].row = rows[i];
    return true;
}

/*
 * Draws the COUNT candidates from number FIRST on, and sends them to rank 0. DRAWS is scratch
 * memory for COUNT draws.
 */
static bool draw_candidates(afkmc2_job *run, uint64_t first, size_t count, draw *draws,
                            app_problem *problem) {
    const km_seeding *seeding = run->seeding;
    const km_points *points = run->points;
    uint64_t seed = seeding->seed;
    size_t by_distance = 0, end = count; /* the draws from END on are by weight */
    for (size_t i = 0; i < count; i++) {
        uint64_t number = first + i,
                 place = km_random_below(seed, STREAM_ROW, number, km_points_weight(points));
        run->places[i] = (km_place){place, i};
        if (run->total2 && km_random(seed, STREAM_COIN, number) >> 63)
            draws[by_distance++] =
                (draw){km_random_below(seed, STREAM_PLACE, number, run->total2), i};
        else if (points->weights)
            draws[--end] = (draw){place, i};
    }
    return find_rows(run, run->first2, draws, by_distance, problem) &&
           (!points->weights ||
            find_rows(run, points->weights, draws + end, count - end, problem)) &&
           km_place_rows(points, run->places, count, run->candidates, seeding->comm, problem);
}

/*
 * Computes, at rank 0, the candidates' proposals, and their squared distances from the nearest of
 * the first KNOWN centroids.
 */
static bool measure_candidates(const afkmc2_job *run, size_t count, const uint8_t *centroids,
                               size_t known, app_problem *problem) {
    const km_seeding *seeding = run->seeding;
    km_centroids *packed = NULL;
    double even = 1 / (double)km_points_weight(run->points), total2 = (double)run->total2;
    int code = km_centroids_create(centroids, known, run->dim, run->points->real.used,
                                   seeding->kernel, seeding->threads, &packed);
    if (!code)
        code = km_assign(run->candidates, count, run->dim, packed, seeding->threads, run->nearest,
                         run->nearest2);
    km_centroids_free(packed);
    for (size_t i = 0; i < count; i++) {
        double way = (double)weight_of(run, run->candidates + i * run->bytes, centroids);
        run->proposal[i] = (total2 > 0 ? way / total2 : even) + even;
    }
    return !code || app_refuse(problem, "candidates can't be compared: %s", strerror(code));
}

/* Returns the squared distance of a candidate from the nearest centroid so far. */
static double distance_of(const afkmc2_job *run, size_t candidate) {
    uint32_t distance2 = run->nearest2[candidate];
    return run->points->real.used ? km_real_value(distance2) : (double)distance2;
}

/*
 * Walks the chain of candidates that begins at index FIRST of the batch, and returns the index of
 * the candidate at which it ends. NUMBER is the number of the chain's first candidate among all
 * candidates.
 */
static size_t walk_chain(const afkmc2_job *run, size_t first, uint64_t number) {
    size_t at = first;
    for (size_t next = first + 1; next < first + run->chain; next++) {
        double odds = distance_of(run, next) * run->proposal[at];
        double against = distance_of(run, at) * run->proposal[next];
        uint64_t random = km_random(run->seeding->seed, STREAM_STEP, number + next - first);
        if (odds > (double)(random >> 11) * 0x1p-53 * against)
            at = next;
    }
    return at;
}

/*
 * Called at rank 0. Sets the centroids from number J on, one from each chain of the batch. NUMBER
 * is the number of the batch's first candidate among all candidates.
 */
static void walk_batch(const afkmc2_job *run, size_t count, size_t j, uint64_t number,
                       uint8_t *centroids) {
    for (size_t first = 0; first < count; first += run->chain, j++) {
        size_t end = walk_chain(run, first, number + first), rest = first + run->chain;
        uint8_t *centroid = centroids + j * run->bytes;
        memcpy(centroid, run->candidates + end * run->bytes, run->bytes);
        km_draw_lower(run->points, run->candidates + rest * run->bytes, count - rest, centroid,
                      run->seeding->threads, run->nearest2 + rest);
    }
}

static bool run_chains(afkmc2_job *run, uint8_t *centroids, app_problem *problem) {
    const km_seeding *seeding = run->seeding;
    size_t chains = run->most / run->chain;
    draw *draws = malloc(run->most * sizeof *draws);
    if (!draws)
        app_refuse(problem, "out of memory");
    bool good = app_agree(problem, seeding->comm) && choose_first(run, centroids, problem);
    for (size_t j = 1; good && j < seeding->k; j += chains) {
        size_t now = seeding->k - j < chains ? seeding->k - j : chains, count = now * run->chain;
        uint64_t number = (uint64_t)j * run->chain;
        km_draw_report("afk-mc2", j, seeding->k, seeding->comm);
        good = draw_candidates(run, number, count, draws, problem);
        if (good && app_rank(seeding->comm) == 0 &&
            measure_candidates(run, count, centroids, j, problem))
            walk_batch(run, count, j, number, centroids);
        good = good && app_agree(problem, seeding->comm);
    }
    free(draws);
    return good;
}

static bool choose_by_chains(const km_seeding *seeding, uint8_t *centroids, app_problem *problem) {
    afkmc2_job run = {.seeding = seeding,
                      .points = seeding->points,
                      .dim = seeding->points->dim,
                      .bytes = km_row_bytes(seeding->points),
                      .chain = (size_t)seeding->start->chain};
    size_t chains = BATCH / run.bytes / run.chain;
    chains = chains < 1 ? 1 : chains < seeding->k ? chains : seeding->k;
    run.most = chains * run.chain;
    bool good = allocate_job(&run, problem) && run_chains(&run, centroids, problem);
    release_job(&run);
    return good;
}

const km_init_method km_init_afkmc2 = {"afk-mc2", choose_by_chains};
