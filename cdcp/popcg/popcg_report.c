/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/popcg/popcg_report.h"

#include "app/agreement.h"
#include "app/canvas.h"
#include "app/drawer.h"
#include "app/json.h"

#include <math.h>
#include <stdlib.h>

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

/* --- The picture --- */

enum { TAG = 0 };

/* The geometry of the picture in pixels: the map, with a pixel for each cell, and the margins for
 * its title, numbers and legend. */
enum {
    MARGIN = 16,
    LEFT = MARGIN + 5 * APP_LETTER_WIDTH + 8, /* with the numbers of rows */
    TOP = 74,                                 /* with the title */
    BOTTOM = 106,                             /* with the numbers of columns and the legend */
    TICK = 4,
    CLOSEST = 30,   /* least distance between ticks */
    LEGEND = 240,   /* width of the colours' scale */
    NARROWEST = 350 /* width that the texts need */
};

enum { PAPER = 0xffffff, INK = 0x202020, LAND = 0x606060 };

struct picture {
    app_canvas canvas;
    size_t rows;
};

/* Returns the colour of a height from -1 to 1. */
static unsigned colour_of(double height) {
    double strength = fmin(fabs(height), 1);
    unsigned pale = (unsigned)lrint(255 * (1 - strength));
    unsigned full = (unsigned)lrint(255 - 75 * strength);
    return height > 0 ? full << 16 | pale << 8 | pale : pale << 16 | pale << 8 | full;
}

/* Draws a text centred at X. */
static void draw_centred(app_canvas *canvas, size_t x, size_t y, const char *text) {
    app_canvas_text(canvas, x - app_canvas_text_width(text, 1) / 2, y, text, 1, INK);
}

/* Returns the distance between ticks: there is one at 0, and at most four more. */
static size_t tick_step(size_t cells) {
    size_t step = 1;
    for (int i = 0; cells / step > 4 || step < CLOSEST; i++)
        step = step / (i % 3 == 1 ? 2 : 1) * (i % 3 == 1 ? 5 : 2);
    return step;
}

static void draw_axes(app_canvas *canvas, size_t columns, size_t rows) {
    char text[32];
    app_canvas_text(canvas, MARGIN, TOP - 18, "row of the grid, from south to north", 1, INK);
    for (size_t row = 0; row < rows; row += tick_step(rows)) {
        size_t y = TOP + rows - 1 - row;
        snprintf(text, sizeof text, "%zu", row);
        app_canvas_fill(canvas, LEFT - TICK, y, TICK, 1, INK);
        app_canvas_text(canvas, LEFT - TICK - 3 - app_canvas_text_width(text, 1),
                        y - APP_LETTER_HEIGHT / 2, text, 1, INK);
    }
    for (size_t column = 0; column < columns; column += tick_step(columns)) {
        snprintf(text, sizeof text, "%zu", column);
        app_canvas_fill(canvas, LEFT + column, TOP + rows, 1, TICK, INK);
        draw_centred(canvas, LEFT + column, TOP + rows + TICK + 3, text);
    }
    app_canvas_text(canvas, LEFT, TOP + rows + TICK + 3 + APP_LINE_HEIGHT,
                    "column of the grid, from west to east", 1, INK);
}

/* Draws the scale of the colours, from -MOST to MOST metres. */
static void draw_legend(app_canvas *canvas, size_t y, double most) {
    char text[32];
    for (size_t i = 0; i < LEGEND; i++)
        app_canvas_fill(canvas, LEFT + i, y, 1, APP_LINE_HEIGHT,
                        colour_of(2 * (double)i / (LEGEND - 1) - 1));
    app_canvas_fill(canvas, LEFT + LEGEND + 2 * MARGIN, y, APP_LINE_HEIGHT, APP_LINE_HEIGHT, LAND);
    app_canvas_text(canvas, LEFT + LEGEND + 3 * MARGIN + 4, y + 2, "land", 1, INK);
    y += APP_LINE_HEIGHT + 4;
    snprintf(text, sizeof text, "%.3g mm", -1e3 * most);
    app_canvas_text(canvas, LEFT, y, text, 1, INK);
    draw_centred(canvas, LEFT + LEGEND / 2, y, "0");
    snprintf(text, sizeof text, "%.3g mm", 1e3 * most);
    app_canvas_text(canvas, LEFT + LEGEND - app_canvas_text_width(text, 1), y, text, 1, INK);
}

/* Creates the picture, and paints all cells as land. */
static bool open_picture(struct picture *picture, const struct mask *mask, double most,
                         app_problem *problem) {
    char text[80];
    app_canvas *canvas = &picture->canvas;
    size_t width = LEFT + MARGIN + (mask->columns > NARROWEST ? mask->columns : NARROWEST);
    picture->rows = mask->rows;
    if (!app_canvas_open(canvas, width, TOP + mask->rows + BOTTOM, true, PAPER, problem))
        return false;
    app_canvas_text(canvas, MARGIN, MARGIN, "Height of the sea surface", 2, INK);
    snprintf(text, sizeof text, "computed by coll-popcg on %zu x %zu cells, a pixel each",
             mask->columns, mask->rows);
    app_canvas_text(canvas, MARGIN, MARGIN + 2 * APP_LINE_HEIGHT, text, 1, INK);
    draw_axes(canvas, mask->columns, mask->rows);
    draw_legend(canvas, TOP + mask->rows + BOTTOM - MARGIN - 3 * APP_LINE_HEIGHT, most);
    app_canvas_fill(canvas, LEFT, TOP, mask->columns, mask->rows, LAND);
    return true;
}

static void paint_block(struct picture *picture, const struct mask *mask, const struct block *block,
                        const double *field, double most) {
    struct shape shape = {block->width, block->height};
    for (size_t row = 0; row < block->height; row++)
        for (size_t column = 0; column < block->width; column++) {
            size_t i = block->first_column + column, j = block->first_row + row;
            double height = field[field_at(shape, (long)column, (long)row)];
            if (mask_is_ocean(mask, (long)i, (long)j))
                app_canvas_fill(&picture->canvas, LEFT + i, TOP + picture->rows - 1 - j, 1, 1,
                                colour_of(most > 0 ? height / most : 0));
        }
}

/* Returns the number of cells in the field of the largest block. */
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
    struct picture picture = {0};
    double *field = NULL;
    if (rank == 0 && open_picture(&picture, &ocean->mask, most, problem)) {
        field = malloc(most_cells(&ocean->layout) * sizeof *field);
        if (!field)
            app_refuse(problem, "out of memory");
    }
    bool good = app_agree(problem, ocean->comm);
    if (good && rank == 0) {
        paint_block(&picture, &ocean->mask, &ocean->block, ocean->x, most);
        if (receive_blocks(&picture, ocean, field, most, problem))
            app_png_write(path, true, picture.canvas.width, picture.canvas.height,
                          picture.canvas.pixels, problem);
    } else if (good && ocean->block.width) {
        int cells = (int)field_cells(ocean->matrix.shape);
        app_mpi(problem, MPI_Send(ocean->x, cells, MPI_DOUBLE, 0, TAG, ocean->comm));
    }
    free(picture.canvas.pixels);
    free(field);
    return good && app_agree(problem, ocean->comm);
}
