/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "cdcp/popcg/nine_point.h"

#include <math.h>
#include <stdlib.h>

static const double gravity = 9.806;        /* m/s^2 */
static const double water_density = 1026;   /* kg/m^3 */
static const double strongest_stress = 0.1; /* of the wind; Pa */

/* Returns whether all four cells around the north-east corner of a cell are ocean. */
static bool is_wet(const struct mask *mask, long column, long row) {
    return mask_is_ocean(mask, column, row) && mask_is_ocean(mask, column + 1, row) &&
           mask_is_ocean(mask, column, row + 1) && mask_is_ocean(mask, column + 1, row + 1);
}

static struct grid_point corner_at(const struct mask *mask, long column, long row) {
    struct grid grid = {mask->columns, mask->rows};
    return grid_at(&grid, (double)column + 1, (double)row + 1);
}

/*
 * Adds the corner north-east of cell (column, row). Let a, b, c and d be the values south-west,
 * south-east, north-west and north-east of the corner. Then the corner's share of the energy x A x
 * is x_part (b - a + d - c)^2 + y_part (c - a + d - b)^2.
 */
static void add_corner(struct nine_point *matrix, const struct grid_point *corner, double depth,
                       long column, long row) {
    struct shape shape = matrix->shape;
    double x_part = depth * corner->dy / corner->dx / 4;
    double y_part = depth * corner->dx / corner->dy / 4;
    bool west = column >= -1, south = row >= -1;
    bool east = column < (long)shape.width, north = row < (long)shape.height;
    size_t here = field_at(shape, column, row), line = field_line(shape);
    if (west && south) {
        matrix->centre[here] += x_part + y_part;
        matrix->north[here] += x_part - y_part;
        matrix->east[here] += y_part - x_part;
        matrix->north_east[here] -= x_part + y_part;
    }
    if (east && south) {
        matrix->centre[here + 1] += x_part + y_part;
        matrix->north[here + 1] += x_part - y_part;
    }
    if (west && north) {
        matrix->centre[here + line] += x_part + y_part;
        matrix->east[here + line] += y_part - x_part;
    }
    if (east && north)
        matrix->centre[here + line + 1] += x_part + y_part;
}

static void add_diagonal(struct nine_point *matrix, const struct mask *mask,
                         const struct block *block, double step) {
    struct grid grid = {mask->columns, mask->rows};
    for (long row = -1; row <= (long)block->height; row++)
        for (long column = -1; column <= (long)block->width; column++) {
            long i = column + (long)block->first_column, j = row + (long)block->first_row;
            size_t here = field_at(matrix->shape, column, row);
            if (!mask_is_ocean(mask, i, j))
                continue;
            struct grid_point middle = grid_at(&grid, (double)i + 0.5, (double)j + 0.5);
            matrix->centre[here] += middle.dx * middle.dy / (gravity * step * step);
            if (matrix->centre[here] > 0)
                matrix->inverse[here] = 1 / matrix->centre[here];
        }
}

bool nine_point_make(struct nine_point *matrix, const struct mask *mask, const struct block *block,
                     const struct basin *basin, app_problem *problem) {
    struct shape shape = {block->width, block->height};
    *matrix = (struct nine_point){.shape = shape,
                                  .centre = field_new(shape),
                                  .north = field_new(shape),
                                  .east = field_new(shape),
                                  .north_east = field_new(shape),
                                  .inverse = field_new(shape)};
    if (!matrix->centre || !matrix->north || !matrix->east || !matrix->north_east ||
        !matrix->inverse) {
        nine_point_free(matrix);
        return app_refuse(problem, "out of memory");
    }
    if (!block->width)
        return true;
    for (long row = -2; row <= (long)block->height; row++)
        for (long column = -2; column <= (long)block->width; column++) {
            long i = column + (long)block->first_column, j = row + (long)block->first_row;
            if (!is_wet(mask, i, j))
                continue;
            struct grid_point corner = corner_at(mask, i, j);
            add_corner(matrix, &corner, basin->depth, column, row);
        }
    add_diagonal(matrix, mask, block, basin->step);
    return true;
}

void nine_point_free(struct nine_point *matrix) {
    free(matrix->centre);
    free(matrix->north);
    free(matrix->east);
    free(matrix->north_east);
    free(matrix->inverse);
    *matrix = (struct nine_point){.centre = NULL};
}

void nine_point_apply(const struct nine_point *matrix, double *y, const double *x) {
    struct shape shape = matrix->shape;
    size_t line = field_line(shape);
    const double *north = matrix->north, *east = matrix->east, *diagonal = matrix->north_east;
    for (size_t row = 0; row < shape.height; row++) {
        size_t start = field_at(shape, 0, (long)row);
        for (size_t i = start; i < start + shape.width; i++)
            y[i] = matrix->centre[i] * x[i] + north[i] * x[i + line] +
                   north[i - line] * x[i - line] + east[i] * x[i + 1] + east[i - 1] * x[i - 1] +
                   diagonal[i] * x[i + line + 1] + diagonal[i - line] * x[i - line + 1] +
                   diagonal[i - 1] * x[i + line - 1] + diagonal[i - line - 1] * x[i - line - 1];
    }
}

/*
 * Returns the wind's stress towards the east in Pa, for a LATITUDE in degrees: negative up to 30
 * degrees north and south (trades), positive beyond (westerlies).
 */
static double zonal_stress(double latitude) {
    return -strongest_stress * cos(3 * latitude * acos(-1) / 180);
}

void nine_point_wind(const struct mask *mask, const struct block *block, double *b) {
    struct shape shape = {block->width, block->height};
    for (long row = 0; row < (long)block->height; row++)
        for (long column = 0; column < (long)block->width; column++) {
            double inflow = 0;
            for (long side = 0; side < 4; side++) {
                long right = side & 1, up = side >> 1; /* the cell's corners */
                long i = column + (long)block->first_column - 1 + right;
                long j = row + (long)block->first_row - 1 + up;
                if (!is_wet(mask, i, j))
                    continue;
                struct grid_point corner = corner_at(mask, i, j);
                double push = zonal_stress(corner.latitude) / (water_density * gravity);
                inflow += (right ? -1 : 1) * push * corner.east_x * corner.dy / 2;
                inflow += (up ? -1 : 1) * push * corner.east_y * corner.dx / 2;
            }
            b[field_at(shape, column, row)] = inflow;
        }
}
