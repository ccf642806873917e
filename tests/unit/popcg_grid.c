/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the grid and the operator of coll-popcg, on one block and without communication: the
 * operator is symmetric, and second-order accurate on the sphere; divisions into blocks are
 * complete and leave few ranks without work.
 */
#include "config.h"

#include "cdcp/popcg/nine_point.h"
#include "tests/support/harness.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static const double radius = 6371220, gravity = 9.806;
static const struct basin basin = {4000, 3600};

static struct mask all_ocean(size_t columns, size_t rows) {
    struct mask mask = {columns, rows, malloc(columns * rows)};
    for (size_t i = 0; i < columns * rows; i++)
        mask.ocean[i] = 1;
    return mask;
}

static struct mask scattered_land(size_t columns, size_t rows, unsigned seed) {
    struct mask mask = all_ocean(columns, rows);
    for (size_t i = 0; i < columns * rows; i++)
        mask.ocean[i] = (seed = seed * 1103515245 + 12345) >> 16 & 3 ? 1 : 0;
    return mask;
}

static struct block whole(const struct mask *mask) {
    return (struct block){.width = mask->columns, .height = mask->rows};
}

/* Fills FIELD's border, where the grid wraps around. */
static void wrap(struct shape shape, double *field) {
    for (long row = -1; row <= (long)shape.height; row++) {
        field[field_at(shape, -1, row)] = field[field_at(shape, (long)shape.width - 1, row)];
        field[field_at(shape, (long)shape.width, row)] = field[field_at(shape, 0, row)];
    }
}

/*
 * Returns a spherical harmonic of degree 1: the distance from a plane through the earth's centre.
 */
static double harmonic(const struct grid_point *at) {
    double longitude = at->longitude * acos(-1) / 180, latitude = at->latitude * acos(-1) / 180;
    return 0.6 * cos(latitude) * cos(longitude) + 0.5 * cos(latitude) * sin(longitude) +
           0.4 * sin(latitude);
}

/*
 * Returns the root mean square error of A x / area, away from the walls, compared with the
 * Laplacian of degree 1, -2 x / radius^2.
 */
static double harmonic_error(size_t columns, size_t rows) {
    struct mask mask = all_ocean(columns, rows);
    struct block block = whole(&mask);
    struct shape shape = {columns, rows};
    struct grid grid = {columns, rows};
    struct nine_point matrix;
    app_problem problem = {""};
    ck_assert(nine_point_make(&matrix, &mask, &block, &basin, &problem));
    double *x = field_new(shape), *y = field_new(shape);
    for (long row = 0; row < (long)rows; row++)
        for (long column = 0; column < (long)columns; column++) {
            struct grid_point at = grid_at(&grid, (double)column + 0.5, (double)row + 0.5);
            x[field_at(shape, column, row)] = harmonic(&at);
        }
    wrap(shape, x);
    nine_point_apply(&matrix, y, x);
    double squares = 0,
           factor = 2 * basin.depth / (radius * radius) + 1 / (gravity * basin.step * basin.step);
    size_t margin = rows / 4, cells = 0;
    for (size_t row = margin; row < rows - margin; row++)
        for (size_t column = 0; column < columns; column++, cells++) {
            struct grid_point at = grid_at(&grid, (double)column + 0.5, (double)row + 0.5);
            double here = y[field_at(shape, (long)column, (long)row)] / (at.dx * at.dy);
            squares += pow(here / factor - harmonic(&at), 2);
        }
    nine_point_free(&matrix);
    free(x);
    free(y);
    free(mask.ocean);
    return sqrt(squares / (double)cells);
}

START_TEST(operator_is_of_second_order) {
    double coarse = harmonic_error(40, 48), fine = harmonic_error(80, 96),
           finest = harmonic_error(160, 192);
    ck_assert_msg(finest < 1e-4, "error %g", finest);
    ck_assert_msg(coarse / fine > 3.5 && fine / finest > 3.5, "errors %g, %g, %g", coarse, fine,
                  finest);
}
END_TEST

static double inner(const struct nine_point *matrix, const double *a, const double *b) {
    double *product = field_new(matrix->shape);
    nine_point_apply(matrix, product, b);
    double sum = field_dot(matrix->shape, a, product);
    free(product);
    return sum;
}

START_TEST(operator_is_symmetric_and_positive) {
    static const size_t lengths[][2] = {{1, 1}, {1, 7}, {2, 5}, {3, 3}, {9, 1}, {17, 13}};
    for (size_t trial = 0; trial < sizeof lengths / sizeof *lengths; trial++) {
        struct mask mask = scattered_land(lengths[trial][0], lengths[trial][1], (unsigned)trial);
        struct block block = whole(&mask);
        struct nine_point matrix;
        app_problem problem = {""};
        ck_assert(nine_point_make(&matrix, &mask, &block, &basin, &problem));
        double *a = field_new(matrix.shape), *b = field_new(matrix.shape);
        for (long row = 0; row < (long)mask.rows; row++)
            for (long column = 0; column < (long)mask.columns; column++) {
                size_t at = field_at(matrix.shape, column, row);
                a[at] = mask_is_ocean(&mask, column, row) * sin(1 + 3.0 * (double)at);
                b[at] = mask_is_ocean(&mask, column, row) * cos(5.0 * (double)at);
            }
        wrap(matrix.shape, a);
        wrap(matrix.shape, b);
        double size = sqrt(inner(&matrix, a, a) * inner(&matrix, b, b));
        ck_assert(inner(&matrix, a, a) >= 0 && inner(&matrix, b, b) >= 0);
        ck_assert(fabs(inner(&matrix, a, b) - inner(&matrix, b, a)) <= 1e-12 * size);
        nine_point_free(&matrix);
        free(a);
        free(b);
        free(mask.ocean);
    }
}
END_TEST

/* All cells together cover the sphere between the edges, and the poles are on land. */
START_TEST(grid_covers_the_earth) {
    struct grid grid = {320, 384};
    double area = 0, lowest = 90, highest = -90;
    for (size_t row = 0; row < grid.rows; row++)
        for (size_t column = 0; column < grid.columns; column++) {
            struct grid_point at = grid_at(&grid, (double)column + 0.5, (double)row + 0.5);
            area += at.dx * at.dy;
            lowest = fmin(lowest, at.latitude);
            highest = fmax(highest, at.latitude);
            ck_assert(fabs(hypot(at.east_x, at.east_y) - 1) < 1e-12);
        }
    double sphere = 4 * acos(-1) * radius * radius;
    ck_assert_msg(area > 0.985 * sphere && area < sphere, "%g of the sphere", area / sphere);
    ck_assert(lowest < -78 && highest > 89);
}
END_TEST

START_TEST(cuts_are_complete) {
    static const int ranks[] = {1, 2, 3, 4, 5, 7, 8, 13, 64, 100, 512, 640};
    app_problem problem = {""};
    struct mask mask;
    ck_assert_msg(mask_read(&mask, NULL, &problem), "%s", problem.text);
    for (size_t trial = 0; trial < sizeof ranks / sizeof *ranks; trial++) {
        struct cut cut;
        struct layout layout;
        size_t cells = 0;
        ck_assert(layout_cut(&mask, ranks[trial], &cut, &problem));
        ck_assert(layout_make(&layout, &mask, cut, &problem));
        ck_assert_int_le(layout.blocks, ranks[trial]);
        /* Few ranks are left without work. */
        ck_assert_int_ge(layout.blocks, ranks[trial] * 9 / 10);
        for (int rank = 0; rank < ranks[trial]; rank++) {
            struct block block = layout_block(&layout, rank);
            if (rank < layout.blocks)
                ck_assert_int_eq(layout_owner(&layout, block.column, block.row), rank);
            for (size_t row = 0; row < block.height; row++)
                for (size_t column = 0; column < block.width; column++)
                    cells += mask_is_ocean(&mask, (long)(block.first_column + column),
                                           (long)(block.first_row + row));
        }
        ck_assert_uint_eq(cells, mask_ocean_cells(&mask));
        ck_assert_int_eq(layout_owner(&layout, -1, 0), layout_owner(&layout, cut.columns - 1, 0));
        ck_assert_int_eq(layout_owner(&layout, 0, cut.rows), -1);
        free(layout.owner);
    }
    free(mask.ocean);
}
END_TEST

/* The built-in mask has land and sea in the right places, also at other sizes. */
START_TEST(mask_is_of_the_earth) {
    static const struct {
        double longitude, latitude;
        bool ocean;
    } places[] = {{-150, 0, true}, {-30, 40, true},  {80, -20, true},   {-140, 85, true},
                  {20, 50, false}, {-60, -5, false}, {135, -25, false}, {-40, 75, false},
                  {0, -85, false}, {100, 60, false}, {-100, -60, true}, {50, 42, false}};
    static const size_t sizes[][2] = {{320, 384}, {160, 192}, {640, 400}};
    for (size_t size = 0; size < 3; size++) {
        app_problem problem = {""};
        struct mask mask;
        struct grid grid = {sizes[size][0], sizes[size][1]};
        ck_assert(mask_read(&mask, NULL, &problem));
        ck_assert(mask_resample(&mask, grid.columns, grid.rows, &problem));
        for (size_t place = 0; place < sizeof places / sizeof *places; place++) {
            double nearest = HUGE_VAL;
            bool ocean = false;
            for (size_t i = 0; i < grid.columns * grid.rows; i++) {
                struct grid_point at = grid_at(&grid, (double)(i % grid.columns) + 0.5,
                                               (double)(i / grid.columns) + 0.5);
                double away = hypot(remainder(at.longitude - places[place].longitude, 360),
                                    at.latitude - places[place].latitude);
                if (away < nearest)
                    ocean = mask.ocean[i];
                nearest = fmin(nearest, away);
            }
            ck_assert_msg(ocean == places[place].ocean, "%g %g on %zu x %zu",
                          places[place].longitude, places[place].latitude, grid.columns, grid.rows);
        }
        free(mask.ocean);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("popcg_grid");
    TCase *cases = tcase_create("popcg_grid");
    tcase_add_test(cases, operator_is_of_second_order);
    tcase_add_test(cases, operator_is_symmetric_and_positive);
    tcase_add_test(cases, grid_covers_the_earth);
    tcase_add_test(cases, cuts_are_complete);
    tcase_add_test(cases, mask_is_of_the_earth);
    suite_add_tcase(suite, cases);
    return harness_unit(suite);
}
