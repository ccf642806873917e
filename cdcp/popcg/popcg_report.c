#include "config.h"

#include "cdcp/popcg/popcg_report.h"

#include "app/agreement.h"
#include "app/json.h"

enum { COMPUTING, REDUCTIONS, EXCHANGES, PARTS };

/* A solution's figures over all ranks: microseconds for ten iterations. */
struct figures {
    double slowest;
    double parts[PARTS]; /* on average */
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
