/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "kmeans/init/draw.h"

#include "app/progress.h"
#include "kmeans/assign/cluster_sums.h"
#include "kmeans/points/random.h"

#include <coll.h>

#include <limits.h>
#include <string.h>

void km_draw_report(const char *method, uint64_t done, uint64_t all, MPI_Comm comm) {
    if (app_rank(comm) == 0 && app_progress_due())
        app_progress("start by %s: %.0f%%", method, 100 * (double)done / (double)all);
}

static uint64_t sum_of(const km_points *points, const uint64_t *weights) {
    uint64_t sum = 0;
    for (size_t i = 0; i < points->rows; i++)
        sum += weights[i];
    return sum;
}

bool km_draw_total(const km_points *points, const uint64_t *weights, uint64_t *total, MPI_Comm comm,
                   app_problem *problem) {
    *total = sum_of(points, weights);
    return app_agree_sum(problem, total, 1, comm);
}

bool km_draw_rows(const km_points *points, const uint64_t *weights, const uint64_t *places,
                  size_t count, uint64_t *rows, MPI_Comm comm, app_problem *problem) {
    uint64_t end = sum_of(points, weights), begin = 0;
    size_t at = 0;
    int rank = app_rank(comm);
    app_mpi(problem, MPI_Exscan(&end, &begin, 1, MPI_UINT64_T, MPI_SUM, comm));
    if (rank == 0)
        begin = 0; /* MPI_Exscan leaves it undefined on rank 0 */
    memset(rows, 0, count * sizeof *rows);
    while (at < count && places[at] < begin)
        at++;
    end = begin;
    for (size_t i = 0; i < points->rows && at < count; i++)
        for (end += weights[i]; at < count && places[at] < end; at++)
            rows[at] = points->first + i;
    if (!app_agree(problem, comm))
        return false;
    /* Exactly one rank found each row; all other ranks have 0 there. */
    if (count > INT_MAX)
        app_refuse(problem, "%zu draws at once are too many", count);
    else
        app_mpi(problem,
                MPI_Allreduce(MPI_IN_PLACE, rows, (int)count, MPI_UINT64_T, MPI_MAX, comm));
    return app_agree(problem, comm);
}

bool km_draw_first(const km_points *points, uint64_t seed, uint64_t *row, MPI_Comm comm,
                   app_problem *problem) {
    uint64_t place = km_sample_row(seed, km_points_weight(points), 0);
    if (points->weights)
        return km_draw_rows(points, points->weights, &place, 1, row, comm, problem);
    *row = place;
    return true;
}

bool km_draw_fetch(const km_points *points, uint64_t row, uint8_t *into, MPI_Comm comm,
                   app_problem *problem) {
    size_t bytes = km_row_bytes(points);
    double owner = 0; /* the rank that has the row; 0 on other ranks */
    if (row >= points->first && row - points->first < points->rows) {
        memcpy(into, points->data + (row - points->first) * bytes, bytes);
        owner = app_rank(comm);
    }
    if (!app_agree_most(problem, &owner, 1, comm))
        return false;
    app_mpi(problem, COLL_Bcast(into, (MPI_Count)bytes, MPI_UINT8_T, (int)owner, comm));
    return app_agree(problem, comm);
}

void km_draw_lower(const km_points *points, const uint8_t *rows, size_t count,
                   const uint8_t *centroid, int threads, uint32_t *nearest2) {
    size_t bytes = km_row_bytes(points);
#pragma omp parallel for num_threads(threads)
    for (size_t i = 0; i < count; i++) {
        uint32_t distance2 = km_rows_distance2(points, rows + i * bytes, centroid);
        nearest2[i] = distance2 < nearest2[i] ? distance2 : nearest2[i];
    }
}

bool km_draw_unit(const km_points *points, const uint32_t *distance2, MPI_Comm comm, double *unit,
                  app_problem *problem) {
    *unit = 0;
    return !points->real.used ||
           km_real_find_unit(&points->real, distance2, points->rows, comm, unit, problem);
}
