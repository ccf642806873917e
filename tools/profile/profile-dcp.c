/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/commands.h"

#include "app/agreement.h"
#include "app/files.h"
#include "app/json.h"
#include "app/options.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/stats.h"
#include "tools/bench/overlap.h"
#include "tools/profile/benefit.h"

#include <coll.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "coll-profile";

static const char usage[] =
    "usage: mpirun -n RANKS coll-profile --dcp [OPTION...]\n"
    "\n"
    "Finds how many of RANKS ranks should be dedicated collective processors (DCPs). Measures an\n"
    "allreduce of 8 bytes: MPI_Allreduce on all ranks, then by DCPs, one to 1, 2, 4, ... "
    "application\n"
    "ranks, until one serves all, or 64. share is the time by DCPs, hidden the time by DCPs while\n"
    "the program computes, both as shares of the time of MPI_Allreduce.\n";

enum { ROUNDS = 5, CANDIDATES = 8, WARMUPS = 50 };

typedef struct command {
    const char *trace, *output;
    int reps;
} command;

static app_problem problem;

/* A number of DCPs to measure with. Times are in seconds, one per round, valid on rank 0. */
typedef struct candidate {
    char spec[16];
    int served; /* application ranks per DCP; 0: no DCPs */
    int ranks;  /* application ranks in all */
    double latency[ROUNDS], overhead[ROUNDS];
} candidate;

typedef struct measurement {
    const command *options;
    candidate *candidate;
    int round;
    double compute; /* s: computation that is long enough to hide an allreduce */
} measurement;

static bool parse_options(int argc, char **argv, command *options) {
    bool again; /* --dcp, which main has seen already */
    const app_option table[] = {
        {"dcp", NULL, "measure dedicated processors; comes first", .flag = &again},
        {"trace", "FILE",
         "also predict the time of a program from its trace without DCPs: COLL_TRACE=1 coll-run -n "
         "RANKS -- PROGRAM 2> FILE; as coll-info explain dcp does, but share and hidden are left "
         "of "
         "blocking and of other collectives that DCPs serve; or hidden of all",
         .text = &options->trace},
        {"reps", "N", "allreduces in each of 5 rounds", .integer = &options->reps, .least = 1,
         .most = 10000000},
        {"output", "FILE", "write the table as JSON too, an object on each line",
         .text = &options->output},
        APP_PROGRESS_OPTION,
    };
    const app_command line = {"coll-profile --dcp", usage, NULL, APP_TABLE(table)};
    return app_parse(&line, argc, argv, &problem);
}

/* Runs CALL and sets *MEDIAN, on rank 0, to the median seconds of its repetitions. */
static int measure_call(overlap_call *call, const overlap_machine *machine, double *median) {
    double *samples = malloc((size_t)call->repetitions * sizeof *samples);
    if (!samples)
        return MPI_ERR_NO_MEM;
    int code = overlap_run(call, machine, samples);
    if (code == MPI_SUCCESS)
        *median = app_stats_median(samples, call->repetitions);
    free(samples);
    return code;
}

/* Measures one candidate in one round: a dcp_job_work, whose context is a measurement. */
static int measure_round(MPI_Comm comm, void *context) {
    const measurement *m = context;
    candidate *measured = m->candidate;
    overlap_machine machine = overlap_calibrate();
    overlap_call call = {.scheme = measured->served ? OVERLAP_DCP : OVERLAP_BLOCKING,
                         .comm = comm,
                         .doubles = 1,
                         .warmups = WARMUPS,
                         .repetitions = m->options->reps};
    measured->ranks = app_ranks(comm);
    int code = measure_call(&call, &machine, &measured->latency[m->round]);
    if (code != MPI_SUCCESS)
        return code;
    if (!measured->served) { /* a blocking call: no computation hides any of it */
        measured->overhead[m->round] = measured->latency[m->round];
        return MPI_SUCCESS;
    }
    call.compute = m->compute;
    return measure_call(&call, &machine, &measured->overhead[m->round]);
}

/* Returns the median, and leaves the order of ROUNDS as it is. */
static double median(const double rounds[ROUNDS]) {
    double sorted[ROUNDS];
    memcpy(sorted, rounds, sizeof sorted);
    return app_stats_median(sorted, ROUNDS);
}

/*
 * Lists at most CANDIDATES candidates: no DCPs, then 1:1, 1:2, 1:4 and so on, until one DCP serves
 * all other ranks, or 64 of them. Returns their number.
 */
static int list_candidates(int ranks, candidate candidates[CANDIDATES]) {
    int count = 1;
    strcpy(candidates[0].spec, "none");
    for (int served = 1; count < CANDIDATES; served *= 2) {
        candidate *next = &candidates[count++];
        next->served = served;
        snprintf(next->spec, sizeof next->spec, "1:%d", served);
        if (served >= ranks - 1)
            break;
    }
    return count;
}

/* Measures all candidates in each round, so that a temporary disturbance affects all of them. */
static void measure_candidates(const command *options, candidate candidates[], int count) {
    for (int round = 0; round < ROUNDS; round++) {
        double compute = 0;
        for (int i = 0; i < count; i++) {
            candidate *c = &candidates[i];
            measurement m = {options, c, round, compute};
            if (app_rank(MPI_COMM_WORLD) == 0)
                app_progress_ahead(c->served ? options->reps * compute : 0,
                                   "round %d of %d, dcp %s", round + 1, ROUNDS, c->spec);
            dcp_job_run(program, c->served ? c->spec : NULL, measure_round, &m);
            if (i == 0)
                compute = 10 * c->latency[round];
            MPI_Bcast(&compute, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        }
    }
    app_progress_hide();
}

/* Returns the candidate with the smallest PREDICTED time; candidate 0 is without DCPs. */
static int best_of(const double predicted[], int count) {
    int best = 0;
    for (int i = 1; i < count; i++)
        if (predicted[i] < predicted[best])
            best = i;
    return best;
}

static void print_verdict(const char *how, const candidate candidates[], const double predicted[],
                          int count, const char *unit, double scale) {
    int best = best_of(predicted, count);
    if (best)
        printf("# %s: best with %s, %.3f %s instead of %.3f\n", how, candidates[best].spec,
               predicted[best] * scale, unit, predicted[0] * scale);
    else
        printf("# %s: DCPs don't pay; best without them, %.3f %s\n", how, predicted[0] * scale,
               unit);
}

static void print_row(const candidate *c, benefit_shares shares, double with, double overlapped,
                      FILE *json) {
    double latency = median(c->latency) * 1e6, overhead = median(c->overhead) * 1e6;
    printf("%-6s %6d %12.3f %12.3f %8.3f %8.3f", c->spec, c->ranks, latency, overhead,
           shares.blocking, shares.started);
    printf(with > 0 ? " %12.6f %12.6f\n" : "\n", with, overlapped);
    app_json(json, app_json_text("dcp", c->spec), app_json_integer("ranks", c->ranks),
             app_json_number("latency_us", latency), app_json_number("overhead_us", overhead),
             app_json_number("share", shares.blocking), app_json_number("hidden", shares.started),
             app_json_if(with > 0, app_json_number("with_s", with)),
             app_json_if(with > 0, app_json_number("overlapped_s", overlapped)));
}

/* Prints the table, and a verdict for each kind of time. TIMES is NULL without a trace. */
static void print_table(const candidate candidates[], int count, const benefit_times *times,
                        FILE *json) {
    double latency[CANDIDATES], with[CANDIDATES] = {0}, overlapped[CANDIDATES] = {0};
    printf("%-6s %6s %12s %12s %8s %8s%s\n", "dcp", "ranks", "latency_us", "overhead_us", "share",
           "hidden", times ? "       with_s    overlap_s" : "");
    for (int i = 0; i < count; i++) {
        const candidate *c = &candidates[i];
        double native = median(candidates[0].latency);
        latency[i] = median(c->latency);
        double hidden = median(c->overhead) / native;
        const benefit_shares shares = {latency[i] / native, hidden}, all_hidden = {hidden, hidden};
        if (times && i == 0)
            with[i] = overlapped[i] = benefit_total(times);
        else if (times) {
            const benefit_times overlapping = benefit_overlapping(times);
            with[i] = benefit_predict(times, c->served, shares);
            overlapped[i] = benefit_predict(&overlapping, c->served, all_hidden);
        }
        print_row(c, shares, with[i], overlapped[i], json);
    }
    print_verdict("latency", candidates, latency, count, "us", 1e6);
    if (!times)
        return;
    print_verdict("the program, as it is", candidates, with, count, "s", 1);
    print_verdict("the program, overlapped", candidates, overlapped, count, "s", 1);
}

static void agree_or_end(void) {
    app_agree_or_end(MPI_COMM_WORLD, program, &problem);
}

static void measure_and_report(const command *options) {
    static candidate candidates[CANDIDATES];
    benefit_times times;
    app_output json = {0};
    const app_file_use files[] = {{APP_FILE_WRITTEN, "--output", &options->output, 1, NULL},
                                  {APP_FILE_READ, "--trace", &options->trace, 1, NULL}};
    int rank = app_rank(MPI_COMM_WORLD), ranks = app_ranks(MPI_COMM_WORLD), traced;
    if (rank == 0 && options->trace)
        benefit_read_trace(options->trace, &times, &traced, &problem);
    if (ranks < 2)
        app_refuse(&problem, "one rank has nothing to reduce; start it by mpirun -n RANKS");
    if (rank == 0 && !*problem.text && app_files_check(files, 2, &problem))
        app_output_open(&json, options->output, &problem);
    agree_or_end();
    int count = list_candidates(ranks, candidates);
    measure_candidates(options, candidates, count);
    if (rank == 0)
        print_table(candidates, count, options->trace ? &times : NULL, json.file);
    if (app_output_flush_stdout(&problem))
        app_output_commit(&json, &problem);
    agree_or_end();
}

int profile_dcp_main(int argc, char **argv) {
    command options = {.reps = 400};
    parse_options(argc, argv, &options);
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return EXIT_FAILURE;
    agree_or_end();
    measure_and_report(&options);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
