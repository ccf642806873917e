/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/commands.h"

#include "app/agreement.h"
#include "app/clocks.h"
#include "app/json.h"
#include "app/options.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/stats.h"
#include "tools/bench/operation.h"
#include "tools/bench/overlap.h"

#include <coll.h>

#include <stdio.h>
#include <stdlib.h>

static const char program[] = "coll-bench";

static const char usage[] =
    "usage: mpirun -n RANKS coll-bench started [OPERATION] [OPTION...]\n"
    "\n"
    "Measures how much of a broadcast, or of OPERATION, hides behind work that all ranks do\n"
    "between its start and the wait for it: a pause, or with --compute a computation.\n";

static const char notes[] =
    "Operations and sizes are those of coll-bench --help. For a broadcast, blocking is\n"
    "COLL_Bcast, and persistent is COLL_Start and COLL_Wait of one request, both without work.\n"
    "The others work between start and wait: mpi is MPI_Ibcast, mpi-tested is mpi with an\n"
    "MPI_Test every millisecond, calls is COLL_Ibcast, tested is calls with a COLL_Test every\n"
    "millisecond, thread is calls with COLL_PROGRESS=thread.\n"
    "total runs from a common start to the last rank's end. hidden is the part of blocking's\n"
    "time that total does not add to the work. lost is how much longer the work took than alone.\n";

typedef enum manner {
    BLOCKING,
    PERSISTENT,
    MPI,
    MPI_TESTED,
    CALLS,
    TESTED,
    THREAD,
    MANNERS
} manner;

static const char *const names[MANNERS] = {"blocking", "persistent", "mpi",   "mpi-tested",
                                           "calls",    "tested",     "thread"};

typedef struct command {
    app_words words;
    const operation *operation;
    uint64_t bytes;
    double work; /* the time of the work, as a multiple of the time of the blocking call */
    bool compute;
    int reps;
    const char *json;
} command;

static app_problem problem;

static const double SLICE = 1e-3; /* s of work between tests */

/* The state shared by all repetitions. */
typedef struct bench {
    const command *options;
    MPI_Comm comm, threaded; /* THREADED has a progress thread */
    operation_run run;
    operation_request persistent;
    double steps_per_second;
    double work; /* s */
} bench;

/* A started operation. */
typedef struct flight {
    manner manner;
    operation_request request;
} flight;

static void work_for(const bench *b, double seconds) {
    if (b->options->compute)
        overlap_compute(seconds * b->steps_per_second);
    else if (seconds > 0)
        app_sleep(seconds);
}

static int start_operation(bench *b, flight *f) {
    operation_call *call = b->options->operation->call;
    MPI_Comm comm = f->manner == THREAD ? b->threaded : b->comm;
    switch (f->manner) {
    case BLOCKING:
        return call(OPERATION_OURS, &b->run, comm, NULL);
    case PERSISTENT:
        return COLL_Start(&b->persistent.ours);
    case MPI:
    case MPI_TESTED:
        return call(OPERATION_MPI_STARTED, &b->run, comm, &f->request);
    default:
        return call(OPERATION_STARTED, &b->run, comm, &f->request);
    }
}

static int work_meanwhile(bench *b, flight *f) {
    int code = MPI_SUCCESS;
    if (f->manner == BLOCKING || f->manner == PERSISTENT)
        return MPI_SUCCESS;
    if (f->manner != MPI_TESTED && f->manner != TESTED) {
        work_for(b, b->work);
        return MPI_SUCCESS;
    }
    for (double done = 0; done < b->work && code == MPI_SUCCESS; done += SLICE) {
        work_for(b, b->work - done < SLICE ? b->work - done : SLICE);
        int complete;
        code = f->manner == MPI_TESTED ? MPI_Test(&f->request.mpi, &complete, MPI_STATUS_IGNORE)
                                       : COLL_Test(&f->request.ours, &complete);
    }
    return code;
}

static int finish_operation(bench *b, flight *f) {
    if (f->manner == BLOCKING)
        return MPI_SUCCESS;
    if (f->manner == PERSISTENT)
        return COLL_Wait(&b->persistent.ours);
    return f->manner == MPI || f->manner == MPI_TESTED
               ? MPI_Wait(&f->request.mpi, MPI_STATUS_IGNORE)
               : COLL_Wait(&f->request.ours);
}

/*
 * Runs one repetition. Sets SECONDS[0] to the longest time that a rank takes from the barrier to
 * its end of the operation, and SECONDS[1] to the longest time that a rank works.
 */
static bool run_repetition(bench *b, manner how, double seconds[2]) {
    flight f = {.manner = how, .request = {.mpi = MPI_REQUEST_NULL}};
    app_mpi(&problem, MPI_Barrier(b->comm));
    double begun = app_seconds();
    app_mpi(&problem, start_operation(b, &f));
    double started = app_seconds();
    app_mpi(&problem, work_meanwhile(b, &f));
    double worked = app_seconds();
    app_mpi(&problem, finish_operation(b, &f));
    seconds[0] = app_seconds() - begun;
    seconds[1] = worked - started;
    return app_agree_most(&problem, seconds, 2, b->comm);
}

/* Sets MEDIANS to the medians, over all repetitions, of what run_repetition measures for HOW. */
static bool measure_manner(bench *b, manner how, double medians[2]) {
    int reps = b->options->reps;
    double *totals = calloc(2 * (size_t)reps, sizeof *totals), *works = totals + reps, one[2];
    if (!totals)
        app_abort(program, "out of memory for %d samples", reps);
    bool good = run_repetition(b, how, one); /* warm-up */
    for (int i = 0; i < reps && good; i++) {
        if (app_rank(b->comm) == 0)
            app_progress("%s: %d of %d repetitions", names[how], i, reps);
        good = run_repetition(b, how, one);
        totals[i] = one[0];
        works[i] = one[1];
    }
    medians[0] = app_stats_median(totals, reps);
    medians[1] = app_stats_median(works, reps);
    free(totals);
    app_progress_hide();
    return good;
}

static void print_row(const bench *b, manner how, const double medians[2], double blocking,
                      int ranks, FILE *json) {
    bool works = how >= MPI;
    double hidden = works ? (blocking + medians[1] - medians[0]) / blocking : 0,
           lost = works && b->work > 0 ? medians[1] / b->work - 1 : 0;
    printf("%-11s %10llu %12.1f %12.1f %8.1f %8.1f\n", names[how], (unsigned long long)b->run.bytes,
           medians[0] * 1e6, works ? b->work * 1e6 : 0.0, 100 * hidden, 100 * lost);
    fflush(stdout);
    app_json(json, app_json_text("op", "started"), app_json_text("algorithm", names[how]),
             app_json_integer("ranks", ranks), app_json_integer("bytes", (int64_t)b->run.bytes),
             app_json_text("started", b->options->operation->name),
             app_json_integer("reps", b->options->reps),
             app_json_number("median_us", medians[0] * 1e6),
             app_json_number("work_us", works ? b->work * 1e6 : 0),
             app_json_number("hidden", hidden), app_json_number("lost", lost));
}

static void measure_all(bench *b, FILE *json) {
    double blocking = 0, medians[2];
    const int rank = app_rank(b->comm), ranks = app_ranks(b->comm);
    if (rank == 0)
        printf("# %d ranks; medians of %d, in us, and %%\n%-11s %10s %12s %12s %8s %8s\n", ranks,
               b->options->reps, "manner", "bytes", "total", "work", "hidden", "lost");
    for (manner how = BLOCKING; how < MANNERS; how++) {
        if (how == THREAD && b->threaded == MPI_COMM_NULL)
            continue;
        bool good = measure_manner(b, how, medians);
        app_agree_or_end(MPI_COMM_WORLD, program, &problem);
        if (how == BLOCKING) {
            blocking = medians[0];
            MPI_Bcast(&blocking, 1, MPI_DOUBLE, 0, b->comm);
            b->work = b->options->work * blocking;
            if (b->options->compute) { /* measure the work alone, while all ranks compute */
                double begun = app_seconds();
                work_for(b, b->work);
                double alone = app_seconds() - begun;
                app_agree_most(&problem, &alone, 1, b->comm);
                b->work = alone;
            }
        }
        if (good && rank == 0)
            print_row(b, how, medians, blocking, ranks, json);
    }
}

/* Duplicates MPI_COMM_WORLD and lets libcoll set up the duplicate, with a progress thread if
 * THREADED. Returns MPI_COMM_NULL if THREADED and MPI does not provide MPI_THREAD_MULTIPLE. */
static MPI_Comm make_comm(bool threaded) {
    MPI_Comm comm = MPI_COMM_NULL;
    int level, number = 0;
    MPI_Query_thread(&level);
    if (threaded && level < MPI_THREAD_MULTIPLE)
        return comm;
    if (threaded)
        setenv("COLL_PROGRESS", "thread", 1);
    app_mpi(&problem, MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    app_mpi(&problem, COLL_Bcast(&number, 1, MPI_INT, 0, comm));
    if (threaded)
        unsetenv("COLL_PROGRESS");
    return comm;
}

static void run_benchmark(const command *options) {
    bench b = {.options = options, .steps_per_second = overlap_calibrate().steps_per_second};
    app_output json = {0};
    int rank = app_rank(MPI_COMM_WORLD);
    if (rank == 0)
        app_output_open(&json, options->json, &problem);
    if (!operation_open(&b.run, options->operation, options->bytes, rank, app_ranks(MPI_COMM_WORLD),
                        0))
        app_refuse(&problem, "out of memory for %llu bytes", (unsigned long long)options->bytes);
    app_agree_or_end(MPI_COMM_WORLD, program, &problem);
    b.comm = make_comm(false);
    b.threaded = make_comm(true);
    if (b.threaded == MPI_COMM_NULL && rank == 0)
        fprintf(stderr, "%s: no row of thread: MPI gives no MPI_THREAD_MULTIPLE\n", program);
    app_mpi(&problem,
            options->operation->call(OPERATION_PERSISTENT, &b.run, b.comm, &b.persistent));
    app_agree_or_end(MPI_COMM_WORLD, program, &problem);
    measure_all(&b, json.file);
    if (app_output_flush_stdout(&problem))
        app_output_commit(&json, &problem);
    app_agree_or_end(MPI_COMM_WORLD, program, &problem);
    COLL_Request_free(&b.persistent.ours);
    MPI_Comm_free(&b.comm);
    if (b.threaded != MPI_COMM_NULL)
        MPI_Comm_free(&b.threaded);
    operation_close(&b.run);
}

static bool take_operation(command *options) {
    const char *name = options->words.count ? options->words.words[0] : "bcast";
    options->operation = operation_find(name);
    return options->operation ||
           app_refuse(&problem, "unknown operation %s; coll-bench --help names those known", name);
}

int bench_started_main(int argc, char **argv) {
    command options = {.bytes = 1 << 20, .work = 2, .reps = 9};
    const app_option table[] = {
        {.operands = &options.words, .most = 1},
        {"size", "BYTES", "size in bytes", .size = &options.bytes, .least = 1, .most = 1 << 30},
        {"work", "FACTOR", "the work, as a multiple of the time of the blocking call",
         .number = &options.work, .most = 1000},
        {"compute", NULL, "compute instead of pausing; every rank needs a core of its own",
         .flag = &options.compute},
        {"reps", "N", "repetitions", .integer = &options.reps, .least = 1, .most = 100000},
        APP_JSON_OPTION(&options.json),
        APP_PROGRESS_OPTION,
    };
    const app_command line = {"coll-bench started", usage, notes, APP_TABLE(table)};
    int provided;
    if (app_parse(&line, argc, argv, &problem))
        take_operation(&options);
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
        return EXIT_FAILURE;
    app_agree_or_end(MPI_COMM_WORLD, program, &problem);
    run_benchmark(&options);
    app_words_free(&options.words);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
