#include "config.h"

#include "cdcp/popcg/popcg_report.h"

#include "app/agreement.h"
#include "app/drawer.h"
#include "app/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COMPUTING, REDUCTIONS, EXCHANGES, PARTS };

/* The figures of a solution over all ranks, in microseconds for ten iterations. */
struct figures {
    double slowest;
    double parts[PARTS]; /* averages over the ranks */
};

void popcg_report_begin(const struct ocean *ocean, const struct basin *basin) {
    const struct layout *layout = &ocean->layout;
    int ranks = app_ranks(ocean->comm), blocks = layout->cut.columns * layout->cut.rows;
    if (app_rank(ocean->comm) > 0)
        return;
    printf("grid of %zu x %zu cells, %zu of ocean; steps of %g s\n", layout->columns, layout->rows,
           ocean->cells, basin->step);
    printf("%d rank%s, %d x %d blocks, %d of land dropped, %d rank%s without a block\n", ranks,
           ranks == 1 ? "" : "s", layout->cut.columns, layout->cut.rows, blocks - layout->blocks,
           ranks - layout->blocks, ranks - layout->blocks == 1 ? "" : "s");
    printf("%-10s %-10s %10s %10s %14s %11s %11s %11s\n", "solver", "reductions", "iterations",
           "residual", "us/10 iter", "Tcomp us", "Tcoll us", "Tpoint us");
    fflush(stdout);
}

static bool find_figures(const struct solve *solve, int ranks, struct figures *figures,
                         app_problem *problem) {
    double tens = solve->iterations > 0 ? (double)solve->iterations / 10 : 1;
    double mine[PARTS] = {solve->seconds - solve->in_reductions - solve->in_exchanges,
                          solve->in_reductions, solve->in_exchanges};
    if (!app_mpi(problem, MPI_Reduce(&solve->seconds, &figures->slowest, 1, MPI_DOUBLE, MPI_MAX, 0,
                                     solve->comm)) ||
        !app_mpi(problem,
                 MPI_Reduce(mine, figures->parts, PARTS, MPI_DOUBLE, MPI_SUM, 0, solve->comm)))
        return false;
    figures->slowest *= 1e6 / tens;
    for (int i = 0; i < PARTS; i++)
        figures->parts[i] *= 1e6 / tens / ranks;
    return true;
}

static void write_json(FILE *file, const struct ocean *ocean, int ranks,
                       const struct solver *solver, const struct solve *solve,
                       const struct figures *figures) {
    app_json(file, app_json_text("solver", solver->name),
             app_json_text("reductions", solve->mode->name), app_json_integer("ranks", ranks),
             app_json_integer("columns", (int64_t)ocean->layout.columns),
             app_json_integer("rows", (int64_t)ocean->layout.rows),
             app_json_integer("ocean", (int64_t)ocean->cells),
             app_json_integer("blocks", ocean->layout.blocks),
             app_json_integer("iterations", solve->iterations),
             app_json_number("residual", solve->residual),
             app_json_number("us_per_10", figures->slowest),
             app_json_number("comp_us", figures->parts[COMPUTING]),
             app_json_number("coll_us", figures->parts[REDUCTIONS]),
             app_json_number("point_us", figures->parts[EXCHANGES]));
}

bool popcg_report_row(const struct ocean *ocean, const struct solver *solver,
                      const struct solve *solve, FILE *json, app_problem *problem) {
    struct figures figures;
    int ranks = app_ranks(ocean->comm);
    if (!find_figures(solve, ranks, &figures, problem))
        return false;
    if (app_rank(ocean->comm) > 0)
        return true;
    printf("%-10s %-10s %10ld %10.3g %14.2f %11.2f %11.2f %11.2f\n", solver->name,
           solve->mode->name, solve->iterations, solve->residual, figures.slowest,
           figures.parts[COMPUTING], figures.parts[REDUCTIONS], figures.parts[EXCHANGES]);
    fflush(stdout);
    write_json(json, ocean, ranks, solver, solve, &figures);
    return true;
}

void popcg_report_end(const struct ocean *ocean, double lowest, double highest) {
    if (app_rank(ocean->comm) == 0)
        printf("surface from %.15g to %.15g mm\n", 1e3 * lowest, 1e3 * highest);
}

enum { CHANNELS = 3, LAND = 96, TAG = 0 };

struct picture {
    size_t columns, rows;
    unsigned char *pixels; /* CHANNELS for each pixel; all LAND at first */
};

static void paint_cell(struct picture *picture, size_t column, size_t row, double height) {
    double strength = fmin(fabs(height), 1);
    unsigned char pale = (unsigned char)lrint(255 * (1 - strength));
    unsigned char full = (unsigned char)lrint(255 - 75 * strength);
    size_t pixel = (picture->rows - 1 - row) * picture->columns + column;
    picture->pixels[pixel * CHANNELS] = height > 0 ? full : pale;
    picture->pixels[pixel * CHANNELS + 1] = pale;
    picture->pixels[pixel * CHANNELS + 2] = height > 0 ? pale : full;
}

static void paint_block(struct picture *picture, const struct mask *mask, const struct block *block,
                        const double *field, double most) {
    struct shape shape = {block->width, block->height};
    for (size_t row = 0; row < block->height; row++)
        for (size_t column = 0; column < block->width; column++) {
            size_t i = block->first_column + column, j = block->first_row + row;
            double height = field[field_at(shape, (long)column, (long)row)];
            if (mask_is_ocean(mask, (long)i, (long)j))
                paint_cell(picture, i, j, most > 0 ? height / most : 0);
        }
}

/* Returns the cells of the largest block's field. */
static size_t most_cells(const struct layout *layout) {
    size_t most = 0;
    for (int rank = 0; rank < layout->blocks; rank++) {
        struct block block = layout_block(layout, rank);
        size_t cells = field_cells((struct shape){block.width, block.height});
        most = cells > most ? cells : most;
    }
    return most;
}

/* Receives the blocks of ranks 1 and up into FIELD, one at a time, and paints them. */
static bool receive_blocks(struct picture *picture, const struct ocean *ocean, double *field,
                           double most, app_problem *problem) {
    for (int rank = 1; rank < ocean->layout.blocks; rank++) {
        struct block block = layout_block(&ocean->layout, rank);
        int cells = (int)field_cells((struct shape){block.width, block.height});
        if (!app_mpi(problem,
                     MPI_Recv(field, cells, MPI_DOUBLE, rank, TAG, ocean->comm, MPI_STATUS_IGNORE)))
            return false;
        paint_block(picture, &ocean->mask, &block, field, most);
    }
    return true;
}

bool popcg_report_picture(const struct ocean *ocean, const char *path, double most,
                          app_problem *problem) {
    int rank = app_rank(ocean->comm);
    struct picture picture = {.columns = ocean->mask.columns, .rows = ocean->mask.rows};
    size_t bytes = picture.columns * picture.rows * CHANNELS;
    double *field = NULL;
    if (rank == 0) {
        picture.pixels = malloc(bytes);
        field = malloc(most_cells(&ocean->layout) * sizeof *field);
        if (!picture.pixels || !field)
            app_refuse(problem, "out of memory");
    }
    bool good = app_agree(problem, ocean->comm);
    if (good && rank == 0) {
        memset(picture.pixels, LAND, bytes);
        paint_block(&picture, &ocean->mask, &ocean->block, ocean->x, most);
        if (receive_blocks(&picture, ocean, field, most, problem))
            app_png_write(path, true, picture.columns, picture.rows, picture.pixels, problem);
    } else if (good && ocean->block.width) {
        int cells = (int)field_cells(ocean->matrix.shape);
        app_mpi(problem, MPI_Send(ocean->x, cells, MPI_DOUBLE, 0, TAG, ocean->comm));
    }
    free(picture.pixels);
    free(field);
    return good && app_agree(problem, ocean->comm);
}
