/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests coll-popcg's solvers on any number of ranks: compares them with a direct solution and with
 * manufactured ones, and expects the same bits with all kinds of reductions. Also tests their
 * errors for systems that cannot be solved.
 */
#include "config.h"

#include "cdcp/popcg/ocean.h"
#include "tests/support/harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOLVERS = 3, MODES = 3 };

static const struct basin basin = {4000, 3600};

static struct ocean open_ocean(const char *mask, size_t columns, size_t rows) {
    struct ocean ocean;
    app_problem problem = {""};
    harness_assert(ocean_open(&ocean, mask, columns, rows, &basin, MPI_COMM_WORLD, &problem), "%s",
                   problem.text);
    return ocean;
}

static struct solve prepare(struct ocean *ocean, int mode, double tolerance) {
    return (struct solve){.matrix = &ocean->matrix,
                          .halo = &ocean->halo,
                          .comm = ocean->comm,
                          .mode = &reduction_modes[mode],
                          .b = ocean->b,
                          .x = ocean->x,
                          .most_iterations = 10000,
                          .tolerance = tolerance};
}

/* Solves for ocean->b. Returns the outcome. */
static struct solve run(struct ocean *ocean, int solver, int mode, double tolerance) {
    struct solve solve = prepare(ocean, mode, tolerance);
    app_problem problem = {""};
    harness_assert(solver_run(&solvers[solver], &solve, &problem), "%s with %s: %s",
                   solvers[solver].name, reduction_modes[mode].name, problem.text);
    return solve;
}

/* Returns the largest difference between ocean->x and EXPECTED over all ocean cells of the grid. */
static double difference(const struct ocean *ocean, double (*expected)(long, long, const void *),
                         const void *context) {
    double most = 0;
    for (long row = 0; row < (long)ocean->block.height; row++)
        for (long column = 0; column < (long)ocean->block.width; column++) {
            long i = column + (long)ocean->block.first_column;
            long j = row + (long)ocean->block.first_row;
            double x = ocean->x[field_at(ocean->matrix.shape, column, row)];
            most = fmax(
                most, fabs(x - (mask_is_ocean(&ocean->mask, i, j) ? expected(i, j, context) : 0)));
        }
    return most;
}

/*
 * Returns a smooth surface with some roughness, as a function of the cell. The grid wraps around.
 */
static double manufactured(long column, long row, const void *context) {
    const struct mask *mask = context;
    double turn = 2 * acos(-1) * (double)column / (double)mask->columns;
    return sin(3 * turn) + cos(turn + 0.2 * (double)row) + 0.1 * sin(7.0 * (double)row);
}

/* Makes ocean->b the right-hand side of the manufactured surface. */
static void manufacture(struct ocean *ocean) {
    struct shape shape = ocean->matrix.shape;
    for (long row = -1; row <= (long)ocean->block.height; row++)
        for (long column = -1; column <= (long)ocean->block.width; column++) {
            long i = column + (long)ocean->block.first_column;
            long j = row + (long)ocean->block.first_row;
            if (ocean->block.width)
                ocean->x[field_at(shape, column, row)] =
                    mask_is_ocean(&ocean->mask, i, j) ? manufactured(i, j, &ocean->mask) : 0;
        }
    nine_point_apply(&ocean->matrix, ocean->b, ocean->x);
}

START_TEST(manufactured_solutions) {
    static const size_t grids[][2] = {{320, 384}, {40, 48}, {9, 7}, {33, 1}, {2, 30}};
    struct ocean ocean = open_ocean(NULL, grids[_i][0], grids[_i][1]);
    manufacture(&ocean);
    for (int solver = 0; solver < SOLVERS; solver++) {
        run(&ocean, solver, _i % MODES, 1e-12);
        double away = difference(&ocean, manufactured, &ocean.mask);
        harness_assert(away < 1e-8, "%s on %zu x %zu: %g away", solvers[solver].name, grids[_i][0],
                       grids[_i][1], away);
    }
    ocean_close(&ocean);
}
END_TEST

/* A map with a bay, a strait, islands, a lake of one cell, and open water across the date line. */
static const char small_map[] = "P1\n# a small world\n12 10\n"
                                "111111111111\n100011110001\n000010100000\n000000001000\n"
                                "001100000010\n001100010000\n010000000000\n111000100000\n"
                                "110000000011\n111111111111\n";
enum { SMALL_COLUMNS = 12, SMALL_ROWS = 10, SMALL = SMALL_COLUMNS * SMALL_ROWS };

static void write_file(const char *path, const char *text) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fputs(text, file);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Solves A x = b for a symmetric positive definite A of SMALL rows by Cholesky's decomposition. */
static void solve_directly(double a[SMALL][SMALL], double x[SMALL]) {
    for (int j = 0; j < SMALL; j++)
        for (int i = j; i < SMALL; i++) {
            for (int k = 0; k < j; k++)
                a[i][j] -= a[i][k] * a[j][k];
            a[i][j] = i == j ? sqrt(a[i][j]) : a[i][j] / a[j][j];
        }
    for (int i = 0; i < SMALL; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= a[i][k] * x[k];
        x[i] /= a[i][i];
    }
    for (int i = SMALL - 1; i >= 0; i--) {
        for (int k = i + 1; k < SMALL; k++)
            x[i] -= a[k][i] * x[k];
        x[i] /= a[i][i];
    }
}

/*
 * Computes the surface of the small map, with the matrix taken column by column from the operator
 * of one block.
 */
static void expect_small_world(const struct mask *mask, double x[SMALL]) {
    static double a[SMALL][SMALL];
    struct block block = {.width = SMALL_COLUMNS, .height = SMALL_ROWS};
    struct nine_point matrix;
    app_problem problem = {""};
    ck_assert(nine_point_make(&matrix, mask, &block, &basin, &problem));
    double *unit = field_new(matrix.shape), *image = field_new(matrix.shape);
    for (int j = 0; j < SMALL; j++) {
        int column = j % SMALL_COLUMNS, row = j / SMALL_COLUMNS;
        memset(unit, 0, field_cells(matrix.shape) * sizeof *unit);
        for (int around = -1; around <= 1; around++) {
            int i = column + around * SMALL_COLUMNS;
            if (i >= -1 && i <= SMALL_COLUMNS)
                unit[field_at(matrix.shape, i, row)] = 1;
        }
        nine_point_apply(&matrix, image, unit);
        for (int i = 0; i < SMALL; i++)
            a[i][j] = image[field_at(matrix.shape, i % SMALL_COLUMNS, i / SMALL_COLUMNS)];
        if (!mask->ocean[j])
            a[j][j] = 1;
    }
    nine_point_wind(mask, &block, image);
    for (int i = 0; i < SMALL; i++)
        x[i] = image[field_at(matrix.shape, i % SMALL_COLUMNS, i / SMALL_COLUMNS)];
    solve_directly(a, x);
    nine_point_free(&matrix);
    free(unit);
    free(image);
}

static double small_world(long column, long row, const void *context) {
    const double *x = context;
    return x[row * SMALL_COLUMNS + column];
}

START_TEST(direct_solution) {
    const char path[] = "popcg-small.pbm";
    double x[SMALL], most = 0;
    write_file(path, small_map);
    struct ocean ocean = open_ocean(path, 0, 0);
    expect_small_world(&ocean.mask, x);
    for (int i = 0; i < SMALL; i++)
        most = fmax(most, fabs(x[i]));
    harness_assert(most > 0, "the wind moves something");
    for (int solver = 0; solver < SOLVERS; solver++)
        for (int mode = 0; mode < MODES; mode++) {
            run(&ocean, solver, mode, 1e-13);
            double away = difference(&ocean, small_world, x);
            harness_assert(away < 1e-10 * most, "%s with %s: %g of %g away", solvers[solver].name,
                           reduction_modes[mode].name, away, most);
        }
    ocean_close(&ocean);
    unlink(path);
}
END_TEST

START_TEST(same_bits_with_all_reductions) {
    struct ocean ocean = open_ocean(NULL, 80, 96);
    size_t bytes = field_cells(ocean.matrix.shape) * sizeof(double);
    double *first = malloc(bytes);
    for (int solver = 0; solver < SOLVERS; solver++) {
        struct solve before = run(&ocean, solver, 0, 1e-10);
        memcpy(first, ocean.x, bytes);
        for (int mode = 1; mode < MODES; mode++) {
            struct solve after = run(&ocean, solver, mode, 1e-10);
            harness_assert(after.iterations == before.iterations, "%s with %s: %ld iterations, %ld",
                           solvers[solver].name, reduction_modes[mode].name, after.iterations,
                           before.iterations);
            harness_assert(!memcmp(first, ocean.x, bytes) && after.residual == before.residual,
                           "%s with %s: other bits", solvers[solver].name,
                           reduction_modes[mode].name);
        }
    }
    free(first);
    ocean_close(&ocean);
}
END_TEST

/*
 * Sums of parts of any size and sign are the same on all ranks, and as precise as the largest part
 * allows.
 */
START_TEST(sums_are_exact) {
    static const double sizes[] = {1, 1e-30, 1e5, 0, 1e200, 3e-9, 1e-200, 1};
    double seconds = 0, sums[MODES];
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct reduction reductions[MODES];
    for (int mode = 0; mode < MODES; mode++)
        reduction_init(&reductions[mode], &reduction_modes[mode], 1, MPI_COMM_WORLD, &seconds);
    for (int step = 0; step < 64; step++) {
        double expected = 0, largest = 0, part = 0;
        for (int i = 0; i < ranks; i++) {
            double value = sizes[step / 8] * sin(1 + 7.0 * step + i) * (i % 3 ? 1 : 1e-8);
            expected += value;
            largest = fmax(largest, fabs(value));
            part = i == rank ? value : part;
        }
        for (int mode = 0; mode < MODES; mode++) {
            app_problem problem = {""};
            bool good = reduction_start(&reductions[mode], &part, &problem) &&
                        reduction_finish(&reductions[mode], &sums[mode], &problem);
            harness_assert(good, "%s", problem.text);
            harness_assert(fabs(sums[mode] - expected) <= ranks * 2e-15 * largest,
                           "%s: %.17g for %.17g", reduction_modes[mode].name, sums[mode], expected);
            harness_assert(!memcmp(&sums[mode], &sums[0], sizeof sums[0]), "%s: %.17g for %.17g",
                           reduction_modes[mode].name, sums[mode], sums[0]);
        }
    }
    double part = rank == ranks - 1 ? NAN : 1;
    app_problem problem = {""};
    harness_assert(reduction_start(&reductions[1], &part, &problem) &&
                       reduction_finish(&reductions[1], sums, &problem) && isnan(sums[0]),
                   "a sum with a NaN is one");
}
END_TEST

/*
 * Without wind there are no iterations. With an infinite step and wind that adds water there is no
 * solution.
 */
START_TEST(systems_without_work_or_solution) {
    struct ocean ocean = open_ocean(NULL, 40, 48);
    struct basin rigid = {4000, INFINITY};
    memset(ocean.b, 0, field_cells(ocean.matrix.shape) * sizeof(double));
    struct solve idle = run(&ocean, 0, 0, 1e-10);
    harness_assert(idle.iterations == 0 && idle.residual == 0, "no wind, no iterations");
    nine_point_free(&ocean.matrix);
    app_problem problem = {""};
    harness_assert(nine_point_make(&ocean.matrix, &ocean.mask, &ocean.block, &rigid, &problem),
                   "%s", problem.text);
    for (long row = 0; row < (long)ocean.block.height; row++)
        for (long column = 0; column < (long)ocean.block.width; column++) {
            long i = column + (long)ocean.block.first_column;
            long j = row + (long)ocean.block.first_row;
            ocean.b[field_at(ocean.matrix.shape, column, row)] = mask_is_ocean(&ocean.mask, i, j);
        }
    for (int solver = 0; solver < SOLVERS; solver++) {
        struct solve solve = prepare(&ocean, 1, 1e-10);
        app_problem why = {""};
        solve.most_iterations = 500;
        bool solved = solver_run(&solvers[solver], &solve, &why);
        harness_assert(!solved && strstr(why.text, "residual"), "%s: %s", solvers[solver].name,
                       why.text);
    }
    ocean_close(&ocean);
}
END_TEST

START_TEST(limits_of_iterations) {
    struct ocean ocean = open_ocean(NULL, 40, 48);
    for (int solver = 0; solver < SOLVERS; solver++) {
        struct solve solve = prepare(&ocean, 2, 1e-10);
        app_problem problem = {""};
        solve.most_iterations = 13;
        bool solved = solver_run(&solvers[solver], &solve, &problem);
        harness_assert(!solved && strstr(problem.text, "no convergence within 13 iterations"),
                       "%s: %s", solvers[solver].name, problem.text);
        solve.tolerance = 0;
        problem.text[0] = '\0';
        harness_assert(solver_run(&solvers[solver], &solve, &problem) && solve.iterations == 13 &&
                           solve.residual < 1,
                       "all of 13 iterations");
    }
    ocean_close(&ocean);
}
END_TEST

/* If there are more ranks than blocks, ranks without a block take part in collective calls. */
START_TEST(ranks_without_blocks) {
    const char path[] = "popcg-pond.pbm";
    write_file(path, "P1 4 3 1111 1001 1111");
    struct ocean ocean = open_ocean(path, 0, 0);
    manufacture(&ocean);
    for (int mode = 0; mode < MODES; mode++) {
        run(&ocean, 0, mode, 1e-12);
        harness_assert(difference(&ocean, manufactured, &ocean.mask) < 1e-9, "a pond");
    }
    ocean_close(&ocean);
    unlink(path);
}
END_TEST

static Suite *suite(void) {
    Suite *suite = suite_create("popcg");
    TCase *cases = tcase_create("popcg");
    tcase_add_test(cases, direct_solution);
    tcase_add_loop_test(cases, manufactured_solutions, 0, 5);
    tcase_add_test(cases, same_bits_with_all_reductions);
    tcase_add_test(cases, sums_are_exact);
    tcase_add_test(cases, systems_without_work_or_solution);
    tcase_add_test(cases, limits_of_iterations);
    tcase_add_test(cases, ranks_without_blocks);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(int argc, char **argv) {
    return harness_main(argc, argv, "1 2 3 4 5 7 8", suite);
}
