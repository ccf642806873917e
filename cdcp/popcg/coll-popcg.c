/* coll-popcg: options and the order of things; ocean.h and solver.h are the work. */
#include "config.h"

#include "app/cli.h"
#include "app/files.h"
#include "app/output.h"
#include "cdcp/popcg/ocean.h"
#include "cdcp/popcg/picture.h"
#include "cdcp/popcg/report.h"
#include "kmeans/points/agree.h"

#include <coll.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "coll-popcg";

static const char help[] =
    "usage: mpirun -n RANKS coll-popcg [options]\n"
    "       coll-popcg --coordinates [--grid CxR] | --help | --version\n"
    "\n"
    "Solves for the surface height of the world's ocean after a step of wind, as the barotropic\n"
    "solver of the Parallel Ocean Program does, and tells how long the iterations took: in\n"
    "computing, in reductions over all ranks and in exchanges with neighbours.\n"
    "\n"
    "  --grid CxR          columns around the earth and rows from south to north (default: the\n"
    "                      mask's own, 320x384)\n"
    "  --mask FILE         which cells are land: plain PBM, 1 for land (default: built in)\n"
    "  --step SECONDS      time step, larger is harder to solve (default 3600)\n"
    "  --solver NAME       pcg (default), chrongear, pipecg, or all\n"
    "  --reductions NAME   blocking (default), nbc, dcp, or all\n"
    "  --tolerance T       solved when |b - A x| <= T |b| (default 1e-10); 0: do all iterations\n"
    "  --iterations N      give up after N iterations (default 10000)\n"
    "  --picture FILE.png  draw the surface height\n"
    "  --json FILE         write the table as JSON too, an object on each line\n"
    "  --coordinates       print column, row, longitude and latitude of every cell's middle\n"
    "  --help, --version\n";

struct command {
    size_t columns, rows; /* 0: the mask's own */
    const char *mask, *picture, *json;
    const char *solver, *reductions; /* names; NULL for all */
    struct basin basin;
    long iterations;
    double tolerance;
    bool coordinates, help, version;
};

enum {
    OPTION_COORDINATES = 256,
    OPTION_GRID,
    OPTION_HELP,
    OPTION_ITERATIONS,
    OPTION_JSON,
    OPTION_MASK,
    OPTION_PICTURE,
    OPTION_REDUCTIONS,
    OPTION_SOLVER,
    OPTION_STEP,
    OPTION_TOLERANCE,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"coordinates", no_argument, NULL, OPTION_COORDINATES},
    {"grid", required_argument, NULL, OPTION_GRID},
    {"help", no_argument, NULL, OPTION_HELP},
    {"iterations", required_argument, NULL, OPTION_ITERATIONS},
    {"json", required_argument, NULL, OPTION_JSON},
    {"mask", required_argument, NULL, OPTION_MASK},
    {"picture", required_argument, NULL, OPTION_PICTURE},
    {"reductions", required_argument, NULL, OPTION_REDUCTIONS},
    {"solver", required_argument, NULL, OPTION_SOLVER},
    {"step", required_argument, NULL, OPTION_STEP},
    {"tolerance", required_argument, NULL, OPTION_TOLERANCE},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static bool take_grid(const char *text, struct command *command, struct problem *problem) {
    char columns[16] = "", rows[16] = "";
    int64_t c = 0, r = 0;
    if (sscanf(text, "%15[0-9]x%15s", columns, rows) != 2 ||
        !cli_parse_integer(columns, 1, MASK_LINE_MOST, &c) ||
        !cli_parse_integer(rows, 1, MASK_LINE_MOST, &r))
        return problem_set(problem,
                           "--grid %s: COLUMNSxROWS is needed, each from 1 to %d, as 320x384", text,
                           MASK_LINE_MOST);
    command->columns = (size_t)c;
    command->rows = (size_t)r;
    return true;
}

/* Sets *CHOICE to TEXT, which must be in the list NAME(0), NAME(1), ...; to NULL for "all". */
static bool take_name(const char *option, const char *text, const char *(*name)(int),
                      const char **choice, struct problem *problem) {
    char known[128] = "all";
    size_t length = strlen(known);
    *choice = NULL;
    if (!strcmp(text, "all"))
        return true;
    for (int i = 0; name(i); i++) {
        if (!strcmp(text, name(i))) {
            *choice = name(i);
            return true;
        }
        length += (size_t)snprintf(known + length, sizeof known - length, ", %s", name(i));
    }
    return problem_set(problem, "--%s %s: one of %s is needed", option, text, known);
}

static const char *solver_name(int i) {
    return solvers[i].name;
}

static const char *mode_name(int i) {
    return reduction_modes[i].name;
}

static bool take_step(const char *text, double *step, struct problem *problem) {
    if (!strncmp(text, "inf", 3))
        return problem_set(problem,
                           "--step %s: makes the problem singular, as the surface height is then "
                           "known up to a constant only; give a finite step",
                           text);
    return cli_take_number(problem, "step", text, 1, 1e6, step);
}

static bool take_iterations(const char *text, long *iterations, struct problem *problem) {
    int64_t value = 0;
    if (!cli_parse_integer(text, 1, INT32_MAX, &value))
        return problem_set(problem, "--iterations %s: a number from 1 to %d is needed", text,
                           INT32_MAX);
    *iterations = (long)value;
    return true;
}

static bool take_option(int option, const char *text, struct command *command,
                        struct problem *problem) {
    switch (option) {
    case OPTION_COORDINATES:
        return command->coordinates = true;
    case OPTION_GRID:
        return take_grid(text, command, problem);
    case OPTION_HELP:
        return command->help = true;
    case OPTION_ITERATIONS:
        return take_iterations(text, &command->iterations, problem);
    case OPTION_JSON:
        command->json = text;
        return true;
    case OPTION_MASK:
        command->mask = text;
        return true;
    case OPTION_PICTURE:
        command->picture = text;
        return true;
    case OPTION_REDUCTIONS:
        return take_name("reductions", text, mode_name, &command->reductions, problem);
    case OPTION_SOLVER:
        return take_name("solver", text, solver_name, &command->solver, problem);
    case OPTION_STEP:
        return take_step(text, &command->basin.step, problem);
    case OPTION_TOLERANCE:
        return cli_take_number(problem, "tolerance", text, 0, 1, &command->tolerance);
    case OPTION_VERSION:
        return command->version = true;
    }
    return problem_set(problem, "option %d is not handled", option);
}

static bool parse(int argc, char **argv, struct command *command, struct problem *problem) {
    int option;
    while ((option = cli_next_option(problem, program, argc, argv, long_options)) >= 0)
        if (!take_option(option, optarg, command, problem))
            return false;
    if (option == CLI_REFUSED)
        return false;
    if (optind < argc)
        return problem_set(problem, "unknown argument %s; coll-popcg --help explains",
                           argv[optind]);
    return true;
}

/* Without MPI: what a mask's generator needs to know of the grid. */
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
                      struct problem *problem) {
    struct solve solve = {.matrix = &ocean->matrix,
                          .halo = &ocean->halo,
                          .comm = ocean->comm,
                          .mode = mode,
                          .b = ocean->b,
                          .x = ocean->x,
                          .most_iterations = command->iterations,
                          .tolerance = command->tolerance};
    struct problem why = {""};
    return solver_run(solver, &solve, &why) ? report_row(ocean, solver, &solve, json, problem)
                                            : problem_set(problem, "%s with %s reductions: %s",
                                                          solver->name, mode->name, why.text);
}

static bool solve_all(const struct command *command, struct ocean *ocean, FILE *json,
                      struct problem *problem) {
    report_begin(ocean, &command->basin);
    for (int s = 0; solvers[s].name; s++)
        for (int m = 0; reduction_modes[m].name; m++)
            if ((!command->solver || !strcmp(command->solver, solvers[s].name)) &&
                (!command->reductions || !strcmp(command->reductions, reduction_modes[m].name)) &&
                !solve_one(command, ocean, &solvers[s], &reduction_modes[m], json, problem))
                return false;
    return true;
}

static bool draw(const struct command *command, const struct ocean *ocean,
                 struct problem *problem) {
    double lowest, highest;
    if (!ocean_range(ocean, &lowest, &highest, problem))
        return false;
    report_end(ocean, lowest, highest);
    return !command->picture ||
           picture_write(command->picture, &ocean->layout, &ocean->mask, ocean->x,
                         fmax(-lowest, highest), ocean->comm, problem);
}

static bool check_files(const struct command *command, struct problem *problem) {
    const file_use files[] = {{FILE_WRITTEN, "--json", &command->json, 1, NULL},
                              {FILE_WRITTEN, "--picture", &command->picture, 1, NULL},
                              {FILE_READ, "--mask", &command->mask, 1, NULL}};
    return files_check(files, 3, problem);
}

static bool run(const struct command *command, MPI_Comm comm, struct problem *problem) {
    struct ocean ocean;
    struct output json = {0};
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        check_files(command, problem);
    if (!km_agree(problem, comm) || !ocean_open(&ocean, command->mask, command->columns,
                                                command->rows, &command->basin, comm, problem))
        return false;
    if (rank == 0)
        output_open(&json, command->json, problem);
    bool good = km_agree(problem, comm);
    if (good) {
        good = solve_all(command, &ocean, json.file, problem) && draw(command, &ocean, problem) &&
               output_commit(&json, problem);
        good = km_agree(problem, comm) && good;
    }
    output_discard(&json);
    ocean_close(&ocean);
    return good;
}

int main(int argc, char **argv) {
    struct command command = {.solver = "pcg",
                              .reductions = "blocking",
                              .basin = {.depth = 4000, .step = 3600},
                              .iterations = 10000,
                              .tolerance = 1e-10};
    struct problem problem = {""};
    parse(argc, argv, &command, &problem);
    if (!problem.text[0] && command.help)
        return fputs(help, stdout) < 0;
    if (!problem.text[0] && command.version)
        return printf("%s (libcoll) %s\n", program, COLL_Version()) < 0;
    if (!problem.text[0] && command.coordinates)
        return print_coordinates(&command);

    MPI_Comm comm = cli_begin(&argc, &argv, program, problem.text);
    bool good = run(&command, comm, &problem);
    cli_agree(comm, program, good ? "" : problem.text);
    return cli_end(&comm);
}
