/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * k-means||: in each of a few rounds every point becomes a candidate, independently, with a
 * probability of oversampling * (its squared distance from the nearest candidate, times its weight)
 * / (the sum of these products over all points). Then each candidate gets the weight of all points
 * whose nearest candidate it is, and k-means++ on the candidates chooses the centroids.
 *
 * Oversampling is 2 k, or less if the candidates of all rounds would exceed the memory limit. If
 * there are fewer than k candidates in the end, rows of the random start are added.
 *
 * Cost: n * 2 k * rounds * dim multiplications, roughly, by the assignment kernel, and 2 k *
 * rounds * k * dim by k-means++; on every rank memory for all candidates, and 24 bytes a point.
 * Source: Bahmani et al., "Scalable k-means++", VLDB 2012, algorithm 2.
 */
#include "config.h"

#include "kmeans/assign/assign.h"
#include "kmeans/init/draw.h"
#include "kmeans/init/init.h"
#include "kmeans/points/random.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The first round's stream of random numbers; each further round uses the next stream. */
enum { STREAM = 16 };

typedef struct parallel_job {
    const km_seeding *seeding;
    const km_points *points;
    uint8_t *candidates;      /* all candidates, on all ranks */
    size_t count, dim, bytes; /* COUNT of candidates, BYTES of a row */
    uint32_t *closest;        /* nearest candidate of each of this rank's points */
    uint32_t *nearest2;       /* its squared distance from the point */
    uint32_t *fresh;          /* nearest new candidate of each point */
    uint32_t *fresh2;         /* its squared distance from the point */
    double unit;              /* factor for squared distances (km_draw_unit) */
    uint64_t *chosen;         /* this rank's points that become candidates in a round */
} parallel_job;

static bool allocate_job(parallel_job *run, app_problem *problem) {
    size_t rows = run->points->rows + 1;
    run->closest = calloc(rows, sizeof *run->closest);
    run->nearest2 = malloc(rows * sizeof *run->nearest2);
    run->fresh = malloc(rows * sizeof *run->fresh);
    run->fresh2 = malloc(rows * sizeof *run->fresh2);
    run->chosen = malloc(rows * sizeof *run->chosen);
    run->candidates = malloc(run->bytes);
    if (!run->closest || !run->nearest2 || !run->fresh || !run->fresh2 || !run->chosen ||
        !run->candidates)
        app_refuse(problem, "out of memory");
    return app_agree(problem, run->seeding->comm);
}

static void release_job(parallel_job *run) {
    free(run->candidates);
    free(run->chosen);
    free(run->fresh2);
    free(run->fresh);
    free(run->nearest2);
    free(run->closest);
}

/* Compares all points with the candidates from FIRST on. */
static bool compare_points(parallel_job *run, size_t first, app_problem *problem) {
    const km_seeding *seeding = run->seeding;
    km_centroids *packed = NULL;
    int code =
        km_centroids_create(run->candidates + first * run->bytes, run->count - first, run->dim,
                            run->points->real.used, seeding->kernel, seeding->threads, &packed);
    if (!code)
        code = km_assign(run->points->data, run->points->rows, run->dim, packed, seeding->threads,
                         run->fresh, run->fresh2);
    km_centroids_free(packed);
    if (code)
        app_refuse(problem, "candidates can't be compared: %s", strerror(code));
    for (size_t i = 0; !code && i < run->points->rows; i++)
        if (run->fresh2[i] < run->nearest2[i]) {
            run->nearest2[i] = run->fresh2[i];
            run->closest[i] = (uint32_t)first + run->fresh[i];
        }
    return app_agree(problem, seeding->comm);
}

/* Returns the weighted squared distance of point I, in units. */
static uint64_t weigh_distance(const parallel_job *run, size_t i) {
    return km_real_to_units(run->unit, run->nearest2[i]) * km_point_weight(run->points, i);
}

/*
 * Chooses this rank's new candidates and returns their number. COST is the weighted sum, in units,
 * of the squared distances of all points from their nearest candidates.
 */
static size_t choose_candidates(const parallel_job *run, uint64_t round, double oversampling,
                                double cost) {
    size_t chosen = 0;
    for (size_t i = 0; i < run->points->rows; i++) {
        uint64_t number = km_random(run->seeding->seed, STREAM + round, run->points->first + i);
        double weight = (double)weigh_distance(run, i);
        if ((double)(number >> 11) * 0x1p-53 < oversampling * weight / cost)
            run->chosen[chosen++] = i;
    }
    return chosen;
}

/* Makes room for MORE candidates. */
static bool grow_candidates(parallel_job *run, size_t more, app_problem *problem) {
    uint8_t *larger = realloc(run->candidates, (run->count + more) * run->bytes);
    if (larger)
        run->candidates = larger;
    else
        app_refuse(problem, "out of memory for %zu candidates; give --start k-means|| less memory",
                   run->count + more);
    return app_agree(problem, run->seeding->comm);
}

/*
 * Appends the COUNT chosen points of each rank, in the order of rows, to the candidates of all
 * ranks.
 */
static bool append_candidates(parallel_job *run, size_t count, int *counts, int *places,
                              app_problem *problem) {
    MPI_Comm comm = run->seeding->comm;
    MPI_Datatype row;
    int rank = app_rank(comm), ranks = app_ranks(comm), mine = (int)count;
    size_t more = 0;
    app_mpi(problem, MPI_Allgather(&mine, 1, MPI_INT, counts, 1, MPI_INT, comm));
    if (!app_agree(problem, comm))
        return false;
    for (int i = 0; i < ranks; i++) {
        places[i] = (int)more;
        more += (size_t)counts[i];
    }
    if (!grow_candidates(run, more, problem))
        return false;
    uint8_t *to = run->candidates + run->count * run->bytes;
    for (size_t i = 0; i < count; i++)
        memcpy(to + ((size_t)places[rank] + i) * run->bytes,
               run->points->data + run->chosen[i] * run->bytes, run->bytes);
    run->count += more;
    if (app_mpi(problem, MPI_Type_contiguous((int)run->bytes, MPI_UINT8_T, &row))) {
        if (app_mpi(problem, MPI_Type_commit(&row)))
            app_mpi(problem, MPI_Allgatherv(MPI_IN_PLACE, 0, row, to, counts, places, row, comm));
        MPI_Type_free(&row);
    }
    return app_agree(problem, comm);
}

/*
 * Runs one round. *COST becomes the weighted sum, in units, of the squared distances of all points
 * from their nearest candidates before the round; 0 means that every point coincides with a
 * candidate.
 */
static bool run_round(parallel_job *run, uint64_t round, double oversampling, uint64_t *cost,
                      app_problem *problem) {
    int ranks = app_ranks(run->seeding->comm);
    size_t before = run->count;
    *cost = 0;
    if (!km_draw_unit(run->points, run->nearest2, run->seeding->comm, &run->unit, problem))
        return false;
    for (size_t i = 0; i < run->points->rows; i++)
        *cost += weigh_distance(run, i);
    int *counts = malloc(2 * (size_t)ranks * sizeof *counts);
    if (!counts)
        app_refuse(problem, "out of memory");
    bool good = app_agree_sum(problem, cost, 1, run->seeding->comm);
    if (good && *cost) {
        size_t chosen = choose_candidates(run, round, oversampling, (double)*cost);
        good = append_candidates(run, chosen, counts, counts + ranks, problem) &&
               (run->count == before || compare_points(run, before, problem));
    }
    free(counts);
    return good;
}

static bool gather_candidates(parallel_job *run, app_problem *problem) {
    const km_seeding *seeding = run->seeding;
    const km_init *start = seeding->start;
    uint64_t cost = 1, row;
    double oversampling = 2 * (double)seeding->k;
    double most = (double)start->memory / (double)run->bytes / (double)start->rounds;
    memset(run->nearest2, 0xff, run->points->rows * sizeof *run->nearest2);
    run->count = 1;
    if (!km_draw_first(run->points, seeding->seed, &row, seeding->comm, problem) ||
        !km_draw_fetch(run->points, row, run->candidates, seeding->comm, problem) ||
        !compare_points(run, 0, problem))
        return false;
    for (uint64_t round = 0; cost && round < start->rounds; round++) {
        km_draw_report("k-means||", round, start->rounds, seeding->comm);
        if (!run_round(run, round, oversampling < most ? oversampling : most, &cost, problem))
            return false;
    }
    return true;
}

/* Uses all candidates, which are k at most, and adds rows of the random start. */
static bool fill_up(const parallel_job *run, uint8_t *centroids, app_problem *problem) {
    const km_seeding *seeding = run->seeding;
    memcpy(centroids, run->candidates, run->count * run->bytes);
    for (size_t j = run->count; j < seeding->k; j++)
        if (!km_draw_fetch(run->points, km_sample_row(seeding->seed, run->points->total, j),
                           centroids + j * run->bytes, seeding->comm, problem))
            return false;
    return true;
}

/* Runs k-means++ on the candidates, which are distributed over the ranks like points. */
static bool reduce_candidates(const parallel_job *run, uint8_t *centroids, app_problem *problem) {
    const km_seeding *seeding = run->seeding;
    km_points view = km_points_share(run->count, run->dim, seeding->comm);
    view.data = run->candidates + view.first * run->bytes;
    view.real = run->points->real;
    km_seeding candidates = *seeding;
    candidates.points = &view;
    uint64_t *weights = calloc(run->count, sizeof *weights);
    if (!weights)
        app_refuse(problem, "out of memory");
    bool good = app_agree(problem, seeding->comm);
    if (good) {
        for (size_t i = 0; i < run->points->rows; i++)
            weights[run->closest[i]] += km_point_weight(run->points, i);
        app_mpi(problem, MPI_Allreduce(MPI_IN_PLACE, weights, (int)run->count, MPI_UINT64_T,
                                       MPI_SUM, seeding->comm));
        good = app_agree(problem, seeding->comm) &&
               km_plus_plus(&candidates, weights + view.first, centroids, problem);
    }
    free(weights);
    return good;
}

static bool choose_by_oversampling(const km_seeding *seeding, uint8_t *centroids,
                                   app_problem *problem) {
    const km_points *points = seeding->points;
    parallel_job run = {
        .seeding = seeding, .points = points, .dim = points->dim, .bytes = km_row_bytes(points)};
    bool good = allocate_job(&run, problem) && gather_candidates(&run, problem);
    if (good && run.count > INT_MAX)
        good = app_refuse(problem, "k-means||: %zu candidates are too many", run.count);
    good = good && (run.count <= seeding->k ? fill_up(&run, centroids, problem)
                                            : reduce_candidates(&run, centroids, problem));
    release_job(&run);
    return good;
}

const km_init_method km_init_parallel = {"k-means||", choose_by_oversampling};
