/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/popcg/mask.h"

#include "app/agreement.h"
#include "app/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not const: fmemopen takes a void *. */
static char built_in[] = {
#include "cdcp/popcg/ocean.inc"
};

/* Returns the next character that is neither blank nor in a comment, or EOF. */
static int next_character(FILE *file) {
    int c;
    while ((c = getc(file)) != EOF) {
        if (c == '#')
            while ((c = getc(file)) != EOF && c != '\n')
                continue;
        else if (!strchr(" \t\r\n", c))
            break;
    }
    return c;
}

static bool read_length(FILE *file, size_t *length) {
    int c = next_character(file);
    *length = 0;
    for (; c >= '0' && c <= '9' && *length <= MASK_LINE_MOST; c = getc(file))
        *length = *length * 10 + (size_t)(c - '0');
    return *length > 0 && *length <= MASK_LINE_MOST;
}

static bool read_cells(struct mask *mask, FILE *file, const char *name, app_problem *problem) {
    size_t cells = mask->columns * mask->rows;
    for (size_t i = 0; i < cells; i++) {
        size_t row = mask->rows - 1 - i / mask->columns;
        int c = next_character(file);
        if (c != '0' && c != '1')
            return app_refuse(problem, "%s: ends or is damaged after %zu of %zu x %zu cells", name,
                              i, mask->columns, mask->rows);
        mask->ocean[row * mask->columns + i % mask->columns] = c == '0';
    }
    return next_character(file) == EOF ||
           app_refuse(problem, "%s: holds more than its %zu x %zu cells", name, mask->columns,
                      mask->rows);
}

static bool read_bitmap(struct mask *mask, FILE *file, const char *name, app_problem *problem) {
    if (getc(file) != 'P' || getc(file) != '1' || !read_length(file, &mask->columns) ||
        !read_length(file, &mask->rows))
        return app_refuse(
            problem,
            "%s: is not a plain PBM bitmap (P1) of at most %d x %d cells; pnmtoplainpnm "
            "makes one",
            name, MASK_LINE_MOST, MASK_LINE_MOST);
    mask->ocean = malloc(mask->columns * mask->rows);
    if (!mask->ocean)
        return app_refuse(problem, "out of memory");
    if (read_cells(mask, file, name, problem))
        return true;
    free(mask->ocean);
    mask->ocean = NULL;
    return false;
}

bool mask_read(struct mask *mask, const char *path, app_problem *problem) {
    const char *name = path ? path : "the built-in mask";
    *mask = (struct mask){.ocean = NULL};
    FILE *file = path ? app_files_open(path, problem) : fmemopen(built_in, sizeof built_in, "r");
    if (!file)
        return app_refuse(problem, "%s: can't be opened: %s", name, strerror(errno));
    bool good = read_bitmap(mask, file, name, problem);
    fclose(file);
    return good;
}

bool mask_resample(struct mask *mask, size_t columns, size_t rows, app_problem *problem) {
    unsigned char *ocean = malloc(columns * rows);
    if (!ocean)
        return app_refuse(problem, "out of memory");
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++) {
            size_t from_row = (2 * row + 1) * mask->rows / (2 * rows);
            size_t from_column = (2 * column + 1) * mask->columns / (2 * columns);
            ocean[row * columns + column] = mask->ocean[from_row * mask->columns + from_column];
        }
    free(mask->ocean);
    *mask = (struct mask){columns, rows, ocean};
    return true;
}

bool mask_share(struct mask *mask, MPI_Comm comm, app_problem *problem) {
    unsigned long lengths[] = {mask->columns, mask->rows};
    if (!app_mpi(problem, MPI_Bcast(lengths, 2, MPI_UNSIGNED_LONG, 0, comm)))
        goto release;
    if (app_rank(comm) > 0) {
        *mask = (struct mask){lengths[0], lengths[1], malloc(lengths[0] * lengths[1])};
        if (!mask->ocean)
            app_refuse(problem, "out of memory");
    }
    if (!app_agree(problem, comm))
        goto release;
    if (app_mpi(problem, MPI_Bcast(mask->ocean, (int)(mask->columns * mask->rows),
                                   MPI_UNSIGNED_CHAR, 0, comm)))
        return true;
release:
    free(mask->ocean);
    mask->ocean = NULL;
    return false;
}

bool mask_is_ocean(const struct mask *mask, long column, long row) {
    long columns = (long)mask->columns;
    if (row < 0 || row >= (long)mask->rows)
        return false;
    column = (column % columns + columns) % columns;
    return mask->ocean[(size_t)row * mask->columns + (size_t)column];
}

size_t mask_ocean_cells(const struct mask *mask) {
    size_t cells = 0;
    for (size_t i = 0; i < mask->columns * mask->rows; i++)
        cells += mask->ocean[i];
    return cells;
}
