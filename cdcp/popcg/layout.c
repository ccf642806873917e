/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/popcg/layout.h"

#include <math.h>
#include <stdlib.h>

/* Returns the first cell of part I if CELLS are divided evenly into PARTS; CELLS if I is PARTS. */
static size_t part_start(size_t cells, int parts, int i) {
    return cells * (size_t)i / (size_t)parts;
}

/*
 * Returns the number of ocean cells south-west of every corner, at [row * (columns + 1) + column].
 * The numbers at the four corners of a rectangle give the number of ocean cells in it.
 */
static size_t *count_ocean(const struct mask *mask) {
    size_t line = mask->columns + 1;
    size_t *counts = calloc(line * (mask->rows + 1), sizeof *counts);
    if (!counts)
        return NULL;
    for (size_t row = 0; row < mask->rows; row++) {
        size_t so_far = 0;
        for (size_t column = 0; column < mask->columns; column++) {
            so_far += mask->ocean[row * mask->columns + column];
            counts[(row + 1) * line + column + 1] = counts[row * line + column + 1] + so_far;
        }
    }
    return counts;
}

static bool has_ocean(const size_t *counts, const struct mask *mask, struct cut cut, int column,
                      int row) {
    size_t line = mask->columns + 1;
    size_t west = part_start(mask->columns, cut.columns, column);
    size_t east = part_start(mask->columns, cut.columns, column + 1);
    size_t south = part_start(mask->rows, cut.rows, row) * line;
    size_t north = part_start(mask->rows, cut.rows, row + 1) * line;
    return counts[north + east] - counts[north + west] >
           counts[south + east] - counts[south + west];
}

static int blocks_with_ocean(const size_t *counts, const struct mask *mask, struct cut cut) {
    int blocks = 0;
    for (int row = 0; row < cut.rows; row++)
        for (int column = 0; column < cut.columns; column++)
            blocks += has_ocean(counts, mask, cut, column, row);
    return blocks;
}

/*
 * Returns the work of the largest block in an iteration, in cells: the cells of the block, plus
 * four cells for each cell of its border, for the messages.
 */
static double block_cost(const struct mask *mask, struct cut cut) {
    double width = ceil((double)mask->columns / cut.columns);
    double height = ceil((double)mask->rows / cut.rows);
    return width * height + 4 * 2 * (width + height);
}

/*
 * Returns the finest cut with COLUMNS columns and at most RANKS blocks with ocean; its number of
 * rows is 0 if there is none. A third of the earth is land, so cuts with more than 2 RANKS blocks
 * are not tried.
 */
static struct cut finest_cut(const size_t *counts, const struct mask *mask, int ranks,
                             int columns) {
    long most = 2L * ranks / columns;
    struct cut cut = {columns, most < (long)mask->rows ? (int)most : (int)mask->rows};
    while (cut.rows > 0 && blocks_with_ocean(counts, mask, cut) > ranks)
        cut.rows--;
    return cut;
}

bool layout_cut(const struct mask *mask, int ranks, struct cut *cut, app_problem *problem) {
    size_t *counts = count_ocean(mask);
    if (!counts)
        return app_refuse(problem, "out of memory");
    *cut = (struct cut){1, 1};
    for (int columns = 1; columns <= 2 * ranks && columns <= (int)mask->columns; columns++) {
        struct cut next = finest_cut(counts, mask, ranks, columns);
        if (next.rows > 0 && block_cost(mask, next) < block_cost(mask, *cut))
            *cut = next;
    }
    free(counts);
    return true;
}

bool layout_make(struct layout *layout, const struct mask *mask, struct cut cut,
                 app_problem *problem) {
    size_t *counts = count_ocean(mask);
    *layout = (struct layout){.cut = cut, .columns = mask->columns, .rows = mask->rows};
    layout->owner = malloc((size_t)cut.columns * (size_t)cut.rows * sizeof *layout->owner);
    if (!counts || !layout->owner) {
        free(counts);
        free(layout->owner);
        layout->owner = NULL;
        return app_refuse(problem, "out of memory");
    }
    for (int row = 0; row < cut.rows; row++)
        for (int column = 0; column < cut.columns; column++)
            layout->owner[row * cut.columns + column] =
                has_ocean(counts, mask, cut, column, row) ? layout->blocks++ : -1;
    free(counts);
    return true;
}

struct block layout_block(const struct layout *layout, int rank) {
    int place = 0;
    if (rank >= layout->blocks)
        return (struct block){.width = 0};
    while (layout->owner[place] != rank)
        place++;
    struct block block = {.column = place % layout->cut.columns,
                          .row = place / layout->cut.columns};
    block.first_column = part_start(layout->columns, layout->cut.columns, block.column);
    block.first_row = part_start(layout->rows, layout->cut.rows, block.row);
    block.width =
        part_start(layout->columns, layout->cut.columns, block.column + 1) - block.first_column;
    block.height = part_start(layout->rows, layout->cut.rows, block.row + 1) - block.first_row;
    return block;
}

int layout_owner(const struct layout *layout, int column, int row) {
    int columns = layout->cut.columns;
    if (row < 0 || row >= layout->cut.rows)
        return -1;
    return layout->owner[row * columns + (column + columns) % columns];
}
