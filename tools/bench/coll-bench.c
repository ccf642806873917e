/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-bench: the options and the output; bench.h measures. */
#include "config.h"

#include "app/agreement.h"
#include "app/json.h"
#include "app/options.h"
#include "app/output.h"
#include "app/progress.h"
#include "app/stats.h"
#include "tools/bench/bench.h"
#include "tools/bench/operation.h"
#include "tools/bench/rivals.h"
#include "tools/commands.h"

#include <coll.h>
#include <coll_tools.h>

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "coll-bench";

static const char usage[] =
    "usage: mpirun -n RANKS coll-bench OPERATION [OPTION...]\n"
    "       mpirun -n RANKS coll-bench started [OPTION...]   (see coll-bench started --help)\n"
    "       mpirun -n RANKS coll-bench dcp --dcp LIST [OPTION...]   (see coll-bench dcp --help)\n"
    "\n"
    "Compares libcoll's algorithms with the MPI library's own, all in one run. Times are from a\n"
    "common start to the last rank's end, in a table like those of the OSU benchmarks.\n";

static const char notes[] =
    "Operations: bcast, gather(v), allreduce, reduce, reduce_scatter, reduce_scatter_block,\n"
    "allgather(v), alltoall(v), scatter(v), barrier, scan, exscan. A size is what each rank has;\n"
    "in a gather, scatter, allgather, alltoall or reduce_scatter it is one block, with --total\n"
    "all blocks together. Reductions add floats: sizes are rounded up to whole ones. In a\n"
    "gatherv, scatterv, allgatherv and reduce_scatter one rank has half of all bytes; in an\n"
    "alltoallv ranks exchange half a block, or one and a half. native is the MPI library's\n"
    "default. wire is one message between the root and a rank on another node, of as many bytes\n"
    "as the busiest host must send or get: nothing can be faster. vs_native and of_wire are\n"
    "ratios of medians: above 1 is faster than native, 1 is as fast as the wire. cpu_ms is the\n"
    "processor time of all ranks together.\n";

enum { SIZES_MAX = 128 };

typedef struct command {
    size_t sizes[SIZES_MAX];
    int size_count;
    int reps, most; /* both 0: repeat until the medians are steady */
    bool total, rivals, all_rivals, no_native, predict;
    app_words words, specs;
    const char *json;
    bench_settings settings;
} command;

/* The first problem of this rank. */
static app_problem problem;

static bool add_size(command *options, uint64_t size) {
    if (options->size_count == SIZES_MAX)
        return app_refuse(&problem, "--sizes: more than %d sizes", SIZES_MAX);
    if (size > PTRDIFF_MAX)
        return app_refuse(&problem, "--sizes: %" PRIu64 " bytes are more than memory can hold",
                          size);
    options->sizes[options->size_count++] = (size_t)size;
    return true;
}

/* Parses "4K" or "1K-64K". */
static bool parse_sizes(const char *item, void *context, app_problem *why) {
    char text[64];
    uint64_t from, to;
    snprintf(text, sizeof text, "%s", item);
    char *dash = strchr(text, '-');
    if (dash)
        *dash = '\0';
    bool good = app_parse_size(text, &from) && from > 0;
    to = from;
    if (good && dash)
        good = app_parse_size(dash + 1, &to) && from <= to;
    if (!good)
        return app_refuse(why, "--sizes: %s is no size; write 4096, 64K, 16M or a range 1K-64K",
                          item);
    for (uint64_t size = from; size <= to; size *= 2) {
        if (!add_size(context, size))
            return false;
        if (size > to / 2)
            break;
    }
    return true;
}

static bool find_operation(command *options) {
    char known[256] = "";
    const char *name = options->words.count ? options->words.words[0] : NULL;
    for (int i = 0; operation_name(i); i++) {
        size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s, ", operation_name(i));
    }
    if (!name)
        return app_refuse(&problem, "no operation; known: %sstarted, dcp", known);
    options->settings.operation = operation_find(name);
    return options->settings.operation ||
           app_refuse(&problem, "unknown operation %s; known: %sstarted, dcp", name, known);
}

/* Rounds the sizes, except with --total, and removes sizes that are equal to the previous size. */
static void round_sizes(command *options) {
    const operation *op = options->settings.operation;
    int kept = 0;
    for (int i = 0; i < options->size_count; i++) {
        size_t rounded = operation_rounded(op, options->sizes[i]),
               size = options->total && rounded ? options->sizes[i] : rounded;
        if (!kept || size != options->sizes[kept - 1])
            options->sizes[kept++] = size;
    }
    options->size_count = kept;
}

static bool parse_options(int argc, char **argv, command *options) {
    bench_settings *settings = &options->settings;
    const app_option table[] = {
        {.operands = &options->words, .most = 1},
        {"sizes", "LIST", "sizes in bytes, 4K,1M, and ranges by powers of 2, 1K-64K",
         .take = parse_sizes, .context = options, .separators = ",", .fallback = "1-4M"},
        {"total", NULL, "a size is that of all blocks together; each block has its share",
         .flag = &options->total},
        {"algorithms", "LIST",
         "algorithms of libcoll, separated by spaces or semicolons: auto, chain, "
         "\"chain:segment=8K,window=4\" (default: auto and all)",
         .words = &options->specs, .separators = " ;"},
        {"rivals", NULL,
         "also Open MPI's own algorithms with several segment sizes, its components han and adapt, "
         "and the nonblocking operation",
         .flag = &options->rivals},
        {"no-native", NULL, "leave out the MPI library's default, which may take very long",
         .flag = &options->no_native},
        {"predict", NULL, "also print the predictions of libcoll's cost model and their errors",
         .flag = &options->predict},
        {"root", "RANK", "root of the operation", .integer = &settings->root, .most = INT_MAX},
        {"reps", "N", "number of repetitions (default: 5 at least, until the medians are steady)",
         .integer = &options->reps, .least = 1, .most = 100000},
        {"most", "N",
         "repeat until there are N repetitions, or at least 5 and --seconds have passed",
         .integer = &options->most, .least = 1, .most = 100000},
        {"seconds", "S", "start no repetition of a size after S seconds",
         .number = &settings->seconds, .most = 1e9},
        {"warmup", "N", "repetitions that don't count", .integer = &settings->warmups,
         .most = 1000},
        {"all-rivals", NULL, "repeat even the rivals that are over twice as slow as the best one",
         .flag = &options->all_rivals},
        {"give-up", "TIMES",
         "don't repeat algorithms that are over TIMES as slow as the fastest; leave those that "
         "take long and fall further behind out of the larger sizes",
         .number = &settings->give_up, .least = 1, .most = 1e9},
        {"verify", NULL, "check the data that arrives in every run", .flag = &settings->verify},
        {"drops", "COMMAND",
         "add a column of packets dropped in a run; COMMAND prints the count so far, as \"netlab "
         "drops --total\" does",
         .text = &settings->drops},
        APP_JSON_OPTION(&options->json),
        APP_PROGRESS_OPTION,
    };
    const app_command line = {program, usage, notes, APP_TABLE(table)};
    if (!app_parse(&line, argc, argv, &problem) || !find_operation(options))
        return false;
    round_sizes(options);
    if (options->reps && options->most)
        return app_refuse(&problem, "--reps and --most both say how often; give one");
    if (options->reps)
        settings->least = settings->most = options->reps;
    if (options->most) {
        settings->most = options->most;
        settings->least = settings->least < options->most ? settings->least : options->most;
        settings->steady = 0;
    }
    if (options->all_rivals)
        settings->hopeless = 0;
    return true;
}

/*
 * Moves as many bytes as the busiest host must send or receive, from the root to the rank in PARAMS
 * or in the other direction, in pieces of at most 1 GiB. The other ranks do nothing.
 */
static int run_wire(const contender *c, const operation_run *run) {
    const size_t most = 1 << 30, bytes = run->moved;
    int peer = atoi(c->params + strcspn(c->params, "=") + 1);
    if (run->rank != run->root && run->rank != peer)
        return MPI_SUCCESS;
    int other = run->rank == run->root ? peer : run->root;
    bool receives = (run->rank == run->root) == run->operation->wire_to_root;
    for (size_t from = 0; from < bytes || from == 0; from += most) {
        unsigned char *at = run->buffer + from;
        int length = (int)(bytes - from < most ? bytes - from : most);
        int code = receives ? MPI_Recv(at, length, MPI_BYTE, other, 0, c->comm, MPI_STATUS_IGNORE)
                            : MPI_Send(at, length, MPI_BYTE, other, 0, c->comm);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

/*
 * Finds the last rank on a node other than ROOT's; if there is only one node, the last rank except
 * ROOT.
 */
static int find_peer(int root, MPI_Comm comm, int *peer) {
    MPI_Comm node;
    int rank = app_rank(comm), ranks = app_ranks(comm), home, far;
    int code = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(&rank, &home, 1, MPI_INT, MPI_MIN, node);
    int root_home = home;
    if (code == MPI_SUCCESS)
        code = MPI_Bcast(&root_home, 1, MPI_INT, root, comm);
    far = home != root_home ? rank : -1;
    if (code == MPI_SUCCESS)
        code = MPI_Allreduce(MPI_IN_PLACE, &far, 1, MPI_INT, MPI_MAX, comm);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_free(&node);
    *peer = far >= 0 ? far : root == ranks - 1 ? ranks - 2 : ranks - 1;
    return code;
}

static bool choose_contenders(const command *options, MPI_Comm comm, contender_list *list) {
    const operation *op = options->settings.operation;
    int peer = -1, ranks = app_ranks(comm), code;
    char params[CONTENDER_PARAMS];
    code = options->no_native
               ? MPI_SUCCESS
               : contender_add(list, CONTENDER_NATIVE, "native", "", operation_native, comm);
    if (code == MPI_SUCCESS)
        code =
            options->specs.words
                ? contender_add_ours(list, op->library, options->specs.words, operation_ours, comm)
                : contender_add_table(list, op->library, op->unknown, operation_ours, comm);
    if (code == MPI_SUCCESS && options->rivals)
        code = rivals_add(list, op, comm);
    if (code == MPI_SUCCESS && ranks > 1)
        code = find_peer(options->settings.root, comm, &peer);
    snprintf(params, sizeof params, "%s=%d", op->wire_to_root ? "from" : "to", peer);
    if (code == MPI_SUCCESS && ranks > 1)
        code = contender_add(list, CONTENDER_WIRE, "wire", params, run_wire, comm);
    return app_mpi(&problem, code);
}

/* Returns the bytes that a call gets for SIZE, a size in the table. */
static size_t bytes_of(const command *options, size_t size, int ranks) {
    const operation *op = options->settings.operation;
    bool blocks = op->in == OPERATION_BLOCKS || op->out == OPERATION_BLOCKS;
    size_t shares = options->total && blocks ? (size_t)ranks : 1;
    return size ? operation_rounded(op, (size - 1) / shares + 1) : 0;
}

static const contender *kind_of(const contender_list *list, contender_kind kind) {
    for (int i = 0; i < list->count; i++)
        if (list->at[i].kind == kind)
            return &list->at[i];
    return NULL;
}

static double median_of(const bench_result *result) {
    return result->count ? app_stats_quantile(result->samples, result->count, 0.5) : 0;
}

/* Returns the median of the first contender of KIND, or 0. */
static double reference_median(const contender_list *list, const bench_result results[],
                               contender_kind kind) {
    const contender *c = kind_of(list, kind);
    return c ? median_of(&results[c - list->at]) : 0;
}

/* Returns the width of the column of parameters. */
static int params_width(const contender_list *list) {
    int width = 12;
    for (int i = 0; i < list->count; i++)
        if ((int)strlen(list->at[i].params) > width)
            width = (int)strlen(list->at[i].params);
    return width;
}

static void print_heading(const command *options, const contender_list *list, int ranks) {
    if (ranks == 1)
        fprintf(stderr, "%s: one rank alone sends nothing; start more: mpirun -n RANKS %s\n",
                program, program);
    printf("# %d rank%s; times in us\n"
           "%-27s %-*s %10s %5s %12s %12s %12s %12s %9s %9s %8s %9s%s%s\n",
           ranks, ranks == 1 ? "" : "s", "algorithm", params_width(list), "params", "bytes", "reps",
           "min", "median", "p95", "max", "MB/s", "vs_native", "of_wire", "cpu_ms",
           options->settings.drops ? "   dropped" : "",
           options->predict ? "    predicted  error_%" : "");
}

/*
 * Gets libcoll's prediction for C at BYTES; returns false if there is none. Local, because the
 * state of all of libcoll's communicators was created when their algorithms were set.
 */
static bool find_prediction(const command *options, const contender_list *list, const contender *c,
                            int ranks, size_t bytes, COLL_Candidate *found) {
    const operation *op = options->settings.operation;
    const contender *ours = c->kind == CONTENDER_OURS ? c : kind_of(list, CONTENDER_OURS);
    bool native = c->kind == CONTENDER_NATIVE;
    if (!options->predict || !ours || (!native && c->kind != CONTENDER_OURS) || op->uneven)
        return false;
    int code = contender_explain(ours->comm, op->library, bytes_of(options, bytes, ranks),
                                 options->settings.root, native ? "native" : NULL, found);
    return code == MPI_SUCCESS && found->name && found->predicted > 0;
}

/* Writes the times of the first calls in us, separated by spaces. */
static void write_calls(const bench_result *result, char text[], size_t size) {
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < result->call_count && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%.1f", i ? " " : "",
                                   result->calls[i] * 1e6);
}

/* Data that all rows of one size share. */
typedef struct measured_size {
    const command *options;
    int ranks, params_width;
    size_t bytes;
    double native, wire; /* medians in s; 0: not measured */
    FILE *json;
} measured_size;

/* PREDICTION is NULL if there is none. */
static void print_row(const measured_size *of, const contender *c, const bench_result *result,
                      const COLL_Candidate *prediction) {
    const command *options = of->options;
    const int ranks = of->ranks;
    const size_t bytes = of->bytes;
    if (c->left_out && !result->count) {
        printf("%-27s %-*s %10zu %5d  left out\n", c->algorithm, of->params_width, c->params, bytes,
               0);
        return;
    }
    if (!result->count) {
        printf("%-27s %-*s %10zu %5d  failed\n", c->algorithm, of->params_width, c->params, bytes,
               0);
        return;
    }
    const double *samples = result->samples;
    int count = result->count;
    double median = median_of(result), p95 = app_stats_quantile(samples, count, 0.95);
    const operation *op = options->settings.operation;
    size_t moved =
        operation_moved(op, bytes_of(options, bytes, ranks), ranks, options->settings.root);
    double rate = median > 0 ? (double)moved / median / 1e6 : 0;
    double vs_native = of->native > 0 ? of->native / median : 0,
           of_wire = of->wire > 0 ? of->wire / median : 0;
    printf("%-27s %-*s %10zu %5d %12.1f %12.1f %12.1f %12.1f %9.2f %9.2f %8.3f %9.2f", c->algorithm,
           of->params_width, c->params, bytes, count, samples[0] * 1e6, median * 1e6, p95 * 1e6,
           samples[count - 1] * 1e6, rate, vs_native, of_wire, result->processor * 1e3);
    if (options->settings.drops)
        printf(" %9.2f", result->dropped);
    COLL_Candidate p = prediction ? *prediction : (COLL_Candidate){.name = NULL};
    if (prediction)
        printf(" %12.1f %8.1f", p.predicted * 1e6, 100 * (p.predicted / median - 1));
    puts(result->wrong ? "  WRONG DATA" : "");

    char calls[BENCH_CALLS * 24];
    write_calls(result, calls, sizeof calls);
    app_json(of->json, app_json_text("op", op->name), app_json_text("algorithm", c->algorithm),
             app_json_text("params", c->params), app_json_integer("ranks", ranks),
             app_json_integer("bytes", (int64_t)bytes), app_json_integer("reps", count),
             app_json_number("min_us", samples[0] * 1e6),
             app_json_number("median_us", median * 1e6), app_json_number("p95_us", p95 * 1e6),
             app_json_number("max_us", samples[count - 1] * 1e6), app_json_number("MBps", rate),
             app_json_number("vs_native", vs_native), app_json_number("of_wire", of_wire),
             app_json_number("cpu_ms", result->processor * 1e3),
             app_json_if(strcmp(c->algorithm, "auto") == 0, app_json_text("calls_us", calls)),
             app_json_if(options->settings.drops, app_json_number("dropped", result->dropped)),
             app_json_if(prediction, app_json_text("runs", p.spec)),
             app_json_if(prediction, app_json_integer("rival", p.rival)),
             app_json_if(prediction, app_json_number("predicted_us", p.predicted * 1e6)),
             app_json_if(prediction, app_json_number("model_us", p.predicted * 1e6)));
}

/* Prints, below the rows of a size, the best setting of the MPI library and how auto compares. */
static void print_best_rival(const contender_list *list, const bench_result results[]) {
    int best = -1, most = 0;
    double ours = 0;
    for (int i = 0; i < list->count; i++)
        most = results[i].count > most ? results[i].count : most;
    for (int i = 0; i < list->count; i++) {
        contender_kind kind = list->at[i].kind;
        if (results[i].count < most) /* failed, or given up after the first round */
            continue;
        if (kind == CONTENDER_OURS && strcmp(list->at[i].algorithm, "auto") == 0)
            ours = median_of(&results[i]);
        bool rival = kind == CONTENDER_RIVAL || kind == CONTENDER_NATIVE;
        if (rival && (best < 0 || median_of(&results[i]) < median_of(&results[best])))
            best = i;
    }
    if (best < 0)
        return;
    printf("# best of MPI: %s %s, %.1f us", list->at[best].algorithm, list->at[best].params,
           median_of(&results[best]) * 1e6);
    if (ours > 0)
        printf("; auto is %.2f times as fast", median_of(&results[best]) / ours);
    putchar('\n');
}

static bool print_size(const command *options, const contender_list *list,
                       const bench_result results[], int ranks, size_t bytes, FILE *json) {
    const measured_size of = {.options = options,
                              .ranks = ranks,
                              .params_width = params_width(list),
                              .bytes = bytes,
                              .native = reference_median(list, results, CONTENDER_NATIVE),
                              .wire = reference_median(list, results, CONTENDER_WIRE),
                              .json = json};
    bool good = true;
    for (int i = 0; i < list->count; i++) {
        COLL_Candidate prediction;
        bool predicted = find_prediction(options, list, &list->at[i], ranks, bytes, &prediction);
        print_row(&of, &list->at[i], &results[i], predicted ? &prediction : NULL);
        if (results[i].wrong)
            good = app_refuse(&problem, "%s %s: wrong data at %zu bytes", list->at[i].algorithm,
                              list->at[i].params, bytes);
        if (*results[i].problem.text && list->at[i].kind == CONTENDER_OURS)
            good = app_refuse(&problem, "%s", results[i].problem.text);
    }
    if (options->rivals)
        print_best_rival(list, results);
    putchar('\n');
    fflush(stdout);
    return good;
}

static bool measure_size(const command *options, contender_list *list, const app_clock *clock,
                         MPI_Comm comm, size_t bytes, FILE *json) {
    int rank = app_rank(comm), ranks = app_ranks(comm);
    bench_result *results = calloc((size_t)list->count, sizeof *results);
    if (!results)
        app_abort(program, "out of memory for %d results", list->count);
    int code =
        bench_run(list, bytes_of(options, bytes, ranks), &options->settings, clock, comm, results);
    if (code == MPI_ERR_NO_MEM)
        app_refuse(&problem, "some rank has no memory for %zu bytes", bytes);
    else
        app_mpi(&problem, code);
    app_progress_hide();
    if (rank == 0 && code == MPI_SUCCESS)
        print_size(options, list, results, ranks, bytes, json);
    bench_free(results, list->count);
    free(results);
    return code == MPI_SUCCESS;
}

static void agree_or_end(MPI_Comm comm) {
    app_agree_or_end(comm, program, &problem);
}

static void measure_sizes(command *options, MPI_Comm comm) {
    int rank = app_rank(comm), ranks = app_ranks(comm);
    app_output json = {0};
    contender_list list = {0};
    app_clock clock;
    if (options->settings.root >= ranks)
        app_refuse(&problem, "--root %d: there are %d ranks", options->settings.root, ranks);
    if (!*problem.text && rank == 0)
        app_output_open(&json, options->json, &problem);
    double dropped;
    if (!*problem.text && rank == 0 && options->settings.drops &&
        !bench_drops(options->settings.drops, &dropped))
        app_refuse(&problem, "--drops: '%s' fails or prints no number", options->settings.drops);
    agree_or_end(comm);
    choose_contenders(options, comm, &list);
    int code = app_clock_init(&clock, comm);
    app_mpi(&problem, code);
    agree_or_end(comm);

    if (rank == 0)
        print_heading(options, &list, ranks);
    for (int i = 0; i < options->size_count; i++) {
        app_progress_expect(options->settings.seconds * (options->size_count - i));
        measure_size(options, &list, &clock, comm, options->sizes[i], json.file);
        agree_or_end(comm);
    }
    if (app_output_flush_stdout(&problem))
        app_output_commit(&json, &problem);
    agree_or_end(comm);
    contender_free(&list);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "dcp") == 0)
        return bench_dcp_main(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "started") == 0)
        return bench_started_main(argc - 1, argv + 1);
    command options = {
        .settings = {
            .warmups = 1, .least = 5, .most = 1000, .seconds = 20, .steady = 0.02, .hopeless = 2}};
    parse_options(argc, argv, &options);
    if (options.rivals)
        rivals_prepare();
    MPI_Comm comm = app_begin(&argc, &argv, program, &problem);
    measure_sizes(&options, comm);
    app_words_free(&options.specs);
    app_words_free(&options.words);
    return app_end(&comm);
}
