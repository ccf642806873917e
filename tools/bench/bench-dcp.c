/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/commands.h"

#include "app/agreement.h"
#include "app/json.h"
#include "app/options.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/stats.h"
#include "tools/bench/overlap.h"

#include <coll.h>

#include <stdio.h>
#include <stdlib.h>

static const char program[] = "coll-bench";

static const char usage[] =
    "usage: mpirun -n RANKS coll-bench dcp --dcp LIST [OPTION...]\n"
    "\n"
    "Measures what an allreduce costs the ranks that call it, with and without dedicated\n"
    "processors (DCPs), side by side on the same application ranks: the latency, and the overhead\n"
    "for several amounts of computation between the beginning and the end of the allreduce.\n";

static const char notes[] =
    "In rows with dcp \"none\", all ranks are application ranks. Schemes: blocking is\n"
    "MPI_Allreduce, nbc is MPI_Iallreduce with MPI_Wait, nbc-polled is nbc with 8 MPI_Tests\n"
    "during the computation, dcp is DCP_IAllreduce with DCP_Wait. A time is the time spent in\n"
    "these calls, averaged over the ranks, without the cost of reading the clock. vs_nbc is a\n"
    "ratio of medians: above 1 is cheaper than nbc.\n";

static const char no_dcps[] = "none";

enum { LIST_MOST = 32, WARMUPS = 50 };

typedef struct command {
    app_words specs;
    int doubles[LIST_MOST], size_count;
    double compute[LIST_MOST]; /* s */
    int compute_count, reps;
    const char *json;
} command;

static app_problem problem;

static bool take_size(const char *item, void *context, app_problem *why) {
    command *options = context;
    uint64_t bytes;
    if (!app_parse_size(item, &bytes) || bytes < 8 || bytes % 8 || bytes > 1 << 20)
        return app_refuse(why, "--sizes: %s: a multiple of 8 from 8 to 1M is needed", item);
    if (options->size_count == LIST_MOST)
        return app_refuse(why, "--sizes: more than %d", LIST_MOST);
    options->doubles[options->size_count++] = (int)(bytes / 8);
    return true;
}

static bool take_compute(const char *item, void *context, app_problem *why) {
    command *options = context;
    double us;
    if (!app_parse_number(item, &us) || us < 0 || us > 1e6)
        return app_refuse(why, "--compute: %s: microseconds, 0 to 1000000, are needed", item);
    if (options->compute_count == LIST_MOST)
        return app_refuse(why, "--compute: more than %d", LIST_MOST);
    options->compute[options->compute_count++] = us * 1e-6;
    return true;
}

static bool parse_options(int argc, char **argv, command *options) {
    const app_option table[] = {
        {"dcp", "LIST",
         "number of DCPs, or 1:4 for one to four application ranks; those of a list, 1:4,1:8,2, "
         "are measured one after the other",
         .words = &options->specs, .separators = ",", .required = true},
        {"sizes", "LIST", "bytes to be summed, as doubles", .take = take_size, .context = options,
         .separators = ",", .fallback = "8,64,1K"},
        {"compute", "LIST", "computation in us", .take = take_compute, .context = options,
         .separators = ",", .fallback = "0,1,2,5,10,20,50,100,200"},
        {"reps", "N", "repetitions", .integer = &options->reps, .least = 1, .most = 10000000},
        APP_JSON_OPTION(&options->json),
        APP_PROGRESS_OPTION,
    };
    const app_command line = {"coll-bench dcp", usage, notes, APP_TABLE(table)};
    return app_parse(&line, argc, argv, &problem);
}

static void print_row(const overlap_call *call, const char *spec, int ranks, double samples[],
                      double nbc, FILE *json) {
    int count = call->repetitions;
    double median = app_stats_quantile(samples, count, 0.5),
           p95 = app_stats_quantile(samples, count, 0.95);
    double ratio = median > 0 ? nbc / median : 0;
    const char *name = overlap_name(call->scheme);
    printf("%-10s %-8s %5d %6d %10.1f %6d %10.3f %10.3f %10.3f %10.3f %8.2f\n", name, spec, ranks,
           call->doubles * 8, call->compute * 1e6, count, samples[0] * 1e6, median * 1e6, p95 * 1e6,
           samples[count - 1] * 1e6, ratio);
    app_json(json, app_json_text("op", "dcp"), app_json_text("algorithm", name),
             app_json_text("params", spec), app_json_integer("ranks", ranks),
             app_json_integer("bytes", call->doubles * 8),
             app_json_number("compute_us", call->compute * 1e6), app_json_integer("reps", count),
             app_json_number("min_us", samples[0] * 1e6),
             app_json_number("median_us", median * 1e6), app_json_number("p95_us", p95 * 1e6),
             app_json_number("max_us", samples[count - 1] * 1e6), app_json_number("vs_nbc", ratio));
}

/*
 * Measures all schemes at one size and one amount of computation, including dcp if SPEC has DCPs.
 * Rank 0 prints the rows.
 */
static int measure_schemes(overlap_call *call, const char *spec, const overlap_machine *machine,
                           FILE *json) {
    int schemes = spec == no_dcps ? OVERLAP_DCP : OVERLAP_SCHEMES;
    int rank = app_rank(call->comm), ranks = app_ranks(call->comm), code = MPI_SUCCESS;
    double *samples[OVERLAP_SCHEMES];
    for (int i = 0; i < schemes; i++) {
        samples[i] = malloc((size_t)call->repetitions * sizeof *samples[i]);
        call->scheme = (overlap_scheme)i;
        if (!samples[i])
            app_abort(program, "out of memory for %d samples", call->repetitions);
        if (rank == 0)
            app_progress_ahead(
                call->repetitions * call->compute, "%s with dcp %s: %d bytes, %g us of computation",
                overlap_name(call->scheme), spec, call->doubles * 8, call->compute * 1e6);
        if (code == MPI_SUCCESS)
            code = overlap_run(call, machine, samples[i]);
        if (code == MPI_SUCCESS)
            app_stats_sort(samples[i], call->repetitions);
    }
    app_progress_hide();
    double nbc =
        code == MPI_SUCCESS ? app_stats_quantile(samples[OVERLAP_NBC], call->repetitions, 0.5) : 0;
    for (int i = 0; i < schemes; i++) {
        call->scheme = (overlap_scheme)i;
        if (rank == 0 && code == MPI_SUCCESS)
            print_row(call, spec, ranks, samples[i], nbc, json);
        free(samples[i]);
    }
    return code;
}

/* A measurement with a given number of DCPs, or without DCPs. */
typedef struct measurement {
    const command *options;
    const char *spec;
    FILE *json;
} measurement;

static int measure_all(MPI_Comm comm, void *context) {
    const measurement *m = context;
    const command *options = m->options;
    overlap_machine machine = overlap_calibrate();
    int code = MPI_SUCCESS;
    for (int size = 0; size < options->size_count; size++)
        for (int i = 0; i < options->compute_count && code == MPI_SUCCESS; i++) {
            overlap_call call = {.comm = comm,
                                 .doubles = options->doubles[size],
                                 .compute = options->compute[i],
                                 .warmups = WARMUPS,
                                 .repetitions = options->reps};
            code = measure_schemes(&call, m->spec, &machine, m->json);
        }
    return code;
}

static void measure_specs(const command *options) {
    int rank = app_rank(MPI_COMM_WORLD);
    app_output json = {0};
    for (size_t i = 0; i < options->specs.count; i++) /* refuse bad specs before any measurement */
        dcp_job_run(program, options->specs.words[i], NULL, NULL);
    if (rank == 0)
        app_output_open(&json, options->json, &problem);
    app_agree_or_end(MPI_COMM_WORLD, program, &problem);
    if (rank == 0)
        printf("%-10s %-8s %5s %6s %10s %6s %10s %10s %10s %10s %8s\n", "scheme", "dcp", "ranks",
               "bytes", "compute_us", "reps", "min_us", "median_us", "p95_us", "max_us", "vs_nbc");
    dcp_job_run(program, NULL, measure_all, &(measurement){options, no_dcps, json.file});
    for (size_t i = 0; i < options->specs.count; i++)
        dcp_job_run(program, options->specs.words[i], measure_all,
                    &(measurement){options, options->specs.words[i], json.file});
    if (app_output_flush_stdout(&problem))
        app_output_commit(&json, &problem);
    app_agree_or_end(MPI_COMM_WORLD, program, &problem);
}

int bench_dcp_main(int argc, char **argv) {
    command options = {.reps = 1000};
    parse_options(argc, argv, &options);
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return EXIT_FAILURE;
    app_agree_or_end(MPI_COMM_WORLD, program, &problem);
    measure_specs(&options);
    app_words_free(&options.specs);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
