/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-popcg: options, and the sequence of the work; ocean.h and solver.h do the work. */
#include "config.h"

#include "app/agreement.h"
#include "app/files.h"
#include "app/options.h"
#include "app/output.h"
#include "cdcp/popcg/ocean.h"
#include "cdcp/popcg/popcg_report.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "coll-popcg";

static const char usage[] =
    "usage: mpirun -n RANKS coll-popcg [options]\n"
    "       coll-popcg --coordinates [--grid CxR] | --help | --version\n"
    "\n"
    "Solves for the surface height of the world's ocean after a step of wind, as the barotropic\n"
    "solver of the Parallel Ocean Program does, and prints how long the iterations took: in\n"
    "computing, in reductions over all ranks and in exchanges with neighbours.\n";

struct command {
    size_t columns, rows; /* 0: as in the mask */
    const char *mask, *picture, *json;
    int solver, reductions; /* indices into their tables, from 1; 0 for all */
    struct basin basin;
    int iterations;
    double tolerance;
    bool coordinates;
};

static bool parse_grid(const char *text, void *context, app_problem *problem) {
    struct command *command = context;
    char columns[16] = "", rows[16] = "";
    int64_t c = 0, r = 0;
    if (sscanf(text, "%15[0-9]x%15s", columns, rows) != 2 ||
        !app_parse_integer(columns, 1, MASK_LINE_MOST, &c) ||
        !app_parse_integer(rows, 1, MASK_LINE_MOST, &r))
        return app_refuse(problem,
                          "--grid %s: COLUMNSxROWS is needed, each from 1 to %d, as 320x384", text,
                          MASK_LINE_MOST);
    command->columns = (size_t)c;
    command->rows = (size_t)r;
    return true;
}

static bool parse_step(const char *text, void *context, app_problem *problem) {
    double *step = context;
    if (!strncmp(text, "inf", 3))
        return app_refuse(problem,
                          "--step %s: makes the problem singular, as the surface height is then "
                          "known up to a constant only; give a finite step",
                          text);
    return (app_parse_number(text, step) && *step >= 1 && *step <= 1e6) ||
           app_refuse(problem, "--step %s: a number from 1 to 1e+06 is needed", text);
}

static const char *solver_name(int i) {
    return i ? solvers[i - 1].name : "all";
}

static const char *mode_name(int i) {
    return i ? reduction_modes[i - 1].name : "all";
}

static bool parse_options(int argc, char **argv, struct command *command, app_problem *problem) {
    const app_option table[] = {
        {"grid", "CxR",
         "columns around the earth and rows from south to north (default: the mask's own, 320x384)",
         .take = parse_grid, .context = command},
        {"mask", "FILE", "which cells are land: plain PBM, 1 for land (default: built in)",
         .text = &command->mask},
        {"step", "SECONDS", "time step, larger is harder to solve (default 3600)",
         .take = parse_step, .context = &command->basin.step},
        {"solver", "NAME", "solver:", .choice = &command->solver, .nth = solver_name},
        {"reductions", "NAME", "kind of reductions:", .choice = &command->reductions,
         .nth = mode_name},
        {"tolerance", "T", "solved when |b - A x| <= T |b|; 0: do all iterations",
         .number = &command->tolerance, .most = 1},
        {"iterations", "N", "give up after N iterations", .integer = &command->iterations,
         .least = 1, .most = INT_MAX},
        {"picture", "FILE.png", "draw the surface height", .text = &command->picture},
        APP_JSON_OPTION(&command->json),
        {"coordinates", NULL, "print column, row, longitude and latitude of every cell's middle",
         .flag = &command->coordinates},
    };
    const app_command line = {program, usage, NULL, APP_TABLE(table)};
    return app_parse(&line, argc, argv, problem);
}

/* Prints the coordinates of the cells, which a generator of masks needs. Works without MPI. */
static int print_coordinates(const struct command *command) {
    struct grid grid = {command->columns ? command->columns : 320,
                        command->rows ? command->rows : 384};
    for (size_t row = 0; row < grid.rows; row++)
        for (size_t column = 0; column < grid.columns; column++) {
            struct grid_point at = grid_at(&grid, (double)column + 0.5, (double)row + 0.5);
            printf("%zu %zu %.6f %.6f\n", column, row, at.longitude, at.latitude);
        }
    return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool solve_one(const struct command *command, struct ocean *ocean,
                      const struct solver *solver, const struct reduction_mode *mode, FILE *json,
                      app_problem *problem) {
    struct solve solve = {.matrix = &ocean->matrix,
                          .halo = &ocean->halo,
                          .comm = ocean->comm,
                          .mode = mode,
                          .b = ocean->b,
                          .x = ocean->x,
                          .most_iterations = command->iterations,
                          .tolerance = command->tolerance};
    app_problem why = {""};
    return solver_run(solver, &solve, &why) ? popcg_report_row(ocean, solver, &solve, json, problem)
                                            : app_refuse(problem, "%s with %s reductions: %s",
                                                         solver->name, mode->name, why.text);
}

static bool solve_all(const struct command *command, struct ocean *ocean, FILE *json,
                      app_problem *problem) {
    popcg_report_begin(ocean, &command->basin);
    for (int s = 0; solvers[s].name; s++)
        for (int m = 0; reduction_modes[m].name; m++)
            if ((!command->solver || command->solver - 1 == s) &&
                (!command->reductions || command->reductions - 1 == m) &&
                !solve_one(command, ocean, &solvers[s], &reduction_modes[m], json, problem))
                return false;
    return true;
}

static bool report_surface(const struct command *command, const struct ocean *ocean,
                           app_problem *problem) {
    double lowest, highest;
    if (!ocean_range(ocean, &lowest, &highest, problem))
        return false;
    popcg_report_end(ocean, lowest, highest);
    return !command->picture ||
           popcg_report_picture(ocean, command->picture, fmax(-lowest, highest), problem);
}

static bool check_files(const struct command *command, app_problem *problem) {
    const app_file_use files[] = {{APP_FILE_WRITTEN, "--json", &command->json, 1, NULL},
                                  {APP_FILE_WRITTEN, "--picture", &command->picture, 1, NULL},
                                  {APP_FILE_READ, "--mask", &command->mask, 1, NULL}};
    return app_files_check(files, 3, problem);
}

static bool run_command(const struct command *command, MPI_Comm comm, app_problem *problem) {
    struct ocean ocean;
    app_output json = {0};
    int rank = app_rank(comm);
    if (rank == 0)
        check_files(command, problem);
    if (!app_agree(problem, comm) || !ocean_open(&ocean, command->mask, command->columns,
                                                 command->rows, &command->basin, comm, problem))
        return false;
    if (rank == 0)
        app_output_open(&json, command->json, problem);
    bool good = app_agree(problem, comm);
    if (good) {
        good = solve_all(command, &ocean, json.file, problem) &&
               report_surface(command, &ocean, problem) && app_output_flush_stdout(problem) &&
               app_output_commit(&json, problem);
        good = app_agree(problem, comm) && good;
    }
    app_output_discard(&json);
    ocean_close(&ocean);
    return good;
}

int main(int argc, char **argv) {
    struct command command = {.solver = 1,
                              .reductions = 1,
                              .basin = {.depth = 4000, .step = 3600},
                              .iterations = 10000,
                              .tolerance = 1e-10};
    app_problem problem = {""};
    parse_options(argc, argv, &command, &problem);
    if (!problem.text[0] && command.coordinates)
        return print_coordinates(&command);

    MPI_Comm comm = app_begin(&argc, &argv, program, &problem);
    run_command(&command, comm, &problem);
    app_agree_or_end(comm, program, &problem);
    return app_end(&comm);
}
