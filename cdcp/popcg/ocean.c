/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/popcg/ocean.h"

#include "app/agreement.h"

#include <math.h>
#include <stdlib.h>

/* Reads the mask and chooses the cut into blocks. Called on rank 0 only. */
static bool read_mask_and_cut(struct ocean *ocean, const char *path, size_t columns, size_t rows,
                              int ranks, struct cut *cut, app_problem *problem) {
    struct mask *mask = &ocean->mask;
    if (!mask_read(mask, path, problem) ||
        (columns && !mask_resample(mask, columns, rows, problem)))
        return false;
    if (mask->columns * mask->rows < (size_t)ranks)
        return app_refuse(problem, "a grid of %zu x %zu cells is too small for %d ranks",
                          mask->columns, mask->rows, ranks);
    if (!mask_ocean_cells(mask))
        return app_refuse(problem, "%s: no cell of the grid of %zu x %zu is ocean",
                          path ? path : "the built-in mask", mask->columns, mask->rows);
    return layout_cut(mask, ranks, cut, problem);
}

static bool share_plan(struct ocean *ocean, struct cut *cut, app_problem *problem) {
    return mask_share(&ocean->mask, ocean->comm, problem) &&
           app_mpi(problem, MPI_Bcast(cut, sizeof *cut, MPI_BYTE, 0, ocean->comm)) &&
           layout_make(&ocean->layout, &ocean->mask, *cut, problem);
}

static bool set_up_system(struct ocean *ocean, int rank, const struct basin *basin,
                          app_problem *problem) {
    ocean->block = layout_block(&ocean->layout, rank);
    if (!nine_point_make(&ocean->matrix, &ocean->mask, &ocean->block, basin, problem))
        return false;
    ocean->b = field_new(ocean->matrix.shape);
    ocean->x = field_new(ocean->matrix.shape);
    if (!ocean->b || !ocean->x)
        return app_refuse(problem, "out of memory");
    nine_point_wind(&ocean->mask, &ocean->block, ocean->b);
    return halo_open(&ocean->halo, &ocean->layout, ocean->comm, problem);
}

bool ocean_open(struct ocean *ocean, const char *mask, size_t columns, size_t rows,
                const struct basin *basin, MPI_Comm comm, app_problem *problem) {
    int rank = app_rank(comm), ranks = app_ranks(comm);
    struct cut cut = {0, 0};
    *ocean = (struct ocean){.comm = comm,
                            .halo = {.row = MPI_DATATYPE_NULL, .column = MPI_DATATYPE_NULL}};
    if (rank == 0)
        read_mask_and_cut(ocean, mask, columns, rows, ranks, &cut, problem);
    if (app_agree(problem, comm) && share_plan(ocean, &cut, problem))
        set_up_system(ocean, rank, basin, problem);
    if (!app_agree(problem, comm)) {
        ocean_close(ocean);
        return false;
    }
    ocean->cells = mask_ocean_cells(&ocean->mask);
    return true;
}

void ocean_close(struct ocean *ocean) {
    halo_close(&ocean->halo);
    nine_point_free(&ocean->matrix);
    free(ocean->layout.owner);
    free(ocean->mask.ocean);
    free(ocean->b);
    free(ocean->x);
}

bool ocean_range(const struct ocean *ocean, double *lowest, double *highest, app_problem *problem) {
    /* Both are maxima, of -x and of x. */
    double mine[2] = {-INFINITY, -INFINITY}, all[2];
    for (size_t row = 0; row < ocean->block.height; row++)
        for (size_t column = 0; column < ocean->block.width; column++) {
            double x = ocean->x[field_at(ocean->matrix.shape, (long)column, (long)row)];
            mine[0] = fmax(mine[0], -x);
            mine[1] = fmax(mine[1], x);
        }
    if (!app_mpi(problem, MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, ocean->comm)))
        return false;
    *lowest = -all[0];
    *highest = all[1];
    return true;
}
