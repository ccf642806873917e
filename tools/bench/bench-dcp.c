#include "config.h"

#include "tools/bench/bench-dcp.h"

#include "app/cli.h"
#include "app/output.h"
#include "app/stats.h"
#include "tools/bench/dcp-job.h"
#include "tools/bench/overlap.h"

#include <coll.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "coll-bench";

static const char help[] =
    "usage: mpirun -n RANKS coll-bench dcp --dcp LIST [OPTION...]\n"
    "\n"
    "Measures what an allreduce costs the ranks that call it, with dedicated processors (DCPs) "
    "and\n"
    "without, side by side on the same application ranks: the latency, without computation, and\n"
    "the overhead by how much is computed between the beginning and the end of the allreduce.\n"
    "\n"
    "  --dcp LIST      DCPs: 1:4, one to four application ranks, or their number; of several,\n"
    "                  1:4,1:8,2, one after the other\n"
    "  --sizes LIST    bytes to be summed, as doubles (default 8,64,1K)\n"
    "  --compute LIST  computation in us (default 0,1,2,5,10,20,50,100,200)\n"
    "  --reps N        repetitions (default 1000)\n"
    "  --json FILE     write the rows as JSON too, an object on each line\n"
    "  --help, --version\n"
    "\n"
    "Rows with dcp \"none\" are those of all ranks, before any of them serves.\n"
    "Schemes: blocking is MPI_Allreduce, nbc is MPI_Iallreduce with MPI_Wait, nbc-polled the same\n"
    "with 8 MPI_Tests during the computation, dcp is DCP_IAllreduce with DCP_Wait. Times are "
    "those\n"
    "spent in calls, on average over the ranks, without the clock's own. vs_nbc is the ratio of\n"
    "medians: above 1 is cheaper than nbc.\n";

static const char no_dcps[] = "none";

enum { LIST_MOST = 32, WARMUPS = 50 };

typedef struct command {
    char *specs[LIST_MOST];
    int spec_count;
    int doubles[LIST_MOST], size_count;
    double compute[LIST_MOST]; /* s */
    int compute_count, reps;
    const char *json;
    bool help, version;
} command;

static cli_problem problem;

/* Calls TAKE for each item of a list with commas. */
static bool take_list(const char *option, const char *list, command *options,
                      bool (*take)(command *options, const char *item)) {
    char *copy = strdup(list), *rest = NULL;
    bool good = copy != NULL, empty = true;
    for (char *item = copy ? strtok_r(copy, ",", &rest) : NULL; item && good;
         item = strtok_r(NULL, ",", &rest)) {
        empty = false;
        good = take(options, item);
    }
    free(copy);
    return good && (!empty || cli_refuse(&problem, "--%s: the list is empty", option));
}

static bool take_spec(command *options, const char *item) {
    if (options->spec_count == LIST_MOST)
        return cli_refuse(&problem, "--dcp: more than %d", LIST_MOST);
    options->specs[options->spec_count] = strdup(item);
    return options->specs[options->spec_count++] || cli_refuse(&problem, "out of memory");
}

static bool take_size(command *options, const char *item) {
    uint64_t bytes;
    if (!cli_parse_size(item, &bytes) || bytes < 8 || bytes % 8 || bytes > 1 << 20)
        return cli_refuse(&problem, "--sizes: %s: a multiple of 8 from 8 to 1M is needed", item);
    if (options->size_count == LIST_MOST)
        return cli_refuse(&problem, "--sizes: more than %d", LIST_MOST);
    options->doubles[options->size_count++] = (int)(bytes / 8);
    return true;
}

static bool take_compute(command *options, const char *item) {
    double us;
    if (!cli_parse_number(item, &us) || us < 0 || us > 1e6)
        return cli_refuse(&problem, "--compute: %s: microseconds, 0 to 1000000, are needed", item);
    if (options->compute_count == LIST_MOST)
        return cli_refuse(&problem, "--compute: more than %d", LIST_MOST);
    options->compute[options->compute_count++] = us * 1e-6;
    return true;
}

static bool take_reps(command *options, const char *text) {
    int64_t number;
    if (!cli_parse_integer(text, 1, 10000000, &number))
        return cli_refuse(&problem, "--reps %s: a number from 1 to 10000000 is needed", text);
    options->reps = (int)number;
    return true;
}

static bool take_option(int option, const char *text, command *options) {
    switch (option) {
    case 'd':
        return take_list("dcp", text, options, take_spec);
    case 's':
        options->size_count = 0;
        return take_list("sizes", text, options, take_size);
    case 'c':
        options->compute_count = 0;
        return take_list("compute", text, options, take_compute);
    case 'r':
        return take_reps(options, text);
    case 'j':
        options->json = text;
        return true;
    case 'h':
        options->help = true;
        return true;
    default:
        options->version = true;
        return true;
    }
}

static bool parse(int argc, char **argv, command *options) {
    static const struct option long_options[] = {
        {"dcp", required_argument, NULL, 'd'},     {"sizes", required_argument, NULL, 's'},
        {"compute", required_argument, NULL, 'c'}, {"reps", required_argument, NULL, 'r'},
        {"json", required_argument, NULL, 'j'},    {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},       {NULL, 0, NULL, 0}};
    int option;
    take_list("sizes", "8,64,1K", options, take_size);
    take_list("compute", "0,1,2,5,10,20,50,100,200", options, take_compute);
    while ((option = cli_next_option(&problem, "coll-bench dcp", argc, argv, long_options)) >= 0)
        if (!take_option(option, optarg, options))
            return false;
    if (option == CLI_REFUSED)
        return false;
    if (optind + 1 < argc)
        return cli_refuse(&problem, "unexpected argument %s; see coll-bench dcp --help",
                          argv[optind + 1]);
    if (!options->spec_count && !options->help && !options->version)
        return cli_refuse(&problem, "--dcp is missing; --dcp 1:4 has one serve four ranks");
    return true;
}

static void print_heading(void) {
    printf("%-10s %-8s %5s %6s %10s %6s %10s %10s %10s %10s %8s\n", "scheme", "dcp", "ranks",
           "bytes", "compute_us", "reps", "min_us", "median_us", "p95_us", "max_us", "vs_nbc");
}

static void print_row(const overlap_call *call, const char *spec, int ranks, double samples[],
                      double nbc, FILE *json) {
    int count = call->repetitions;
    double median = stats_quantile(samples, count, 0.5), p95 = stats_quantile(samples, count, 0.95);
    double ratio = median > 0 ? nbc / median : 0;
    const char *name = overlap_name(call->scheme);
    printf("%-10s %-8s %5d %6d %10.1f %6d %10.3f %10.3f %10.3f %10.3f %8.2f\n", name, spec, ranks,
           call->doubles * 8, call->compute * 1e6, count, samples[0] * 1e6, median * 1e6, p95 * 1e6,
           samples[count - 1] * 1e6, ratio);
    cli_json row;
    cli_json_begin(&row, json);
    cli_json_text(&row, "op", "dcp");
    cli_json_text(&row, "algorithm", name);
    cli_json_text(&row, "params", spec);
    cli_json_integer(&row, "ranks", ranks);
    cli_json_integer(&row, "bytes", call->doubles * 8);
    cli_json_number(&row, "compute_us", call->compute * 1e6);
    cli_json_integer(&row, "reps", count);
    cli_json_number(&row, "min_us", samples[0] * 1e6);
    cli_json_number(&row, "median_us", median * 1e6);
    cli_json_number(&row, "p95_us", p95 * 1e6);
    cli_json_number(&row, "max_us", samples[count - 1] * 1e6);
    cli_json_number(&row, "vs_nbc", ratio);
    cli_json_end(&row);
}

/* The schemes at one size and computation, DCPs' where SPEC has some; printed by rank 0. */
static int measure_schemes(overlap_call *call, const char *spec, const overlap_machine *machine,
                           FILE *json) {
    int schemes = spec == no_dcps ? OVERLAP_DCP : OVERLAP_SCHEMES;
    int rank, ranks, code = MPI_SUCCESS;
    MPI_Comm_rank(call->comm, &rank);
    MPI_Comm_size(call->comm, &ranks);
    double *samples[OVERLAP_SCHEMES];
    for (int i = 0; i < schemes; i++) {
        samples[i] = malloc((size_t)call->repetitions * sizeof *samples[i]);
        call->scheme = (overlap_scheme)i;
        if (!samples[i])
            cli_abort(MPI_COMM_WORLD, program, "out of memory for %d samples", call->repetitions);
        if (code == MPI_SUCCESS)
            code = overlap_run(call, machine, samples[i]);
        if (code == MPI_SUCCESS)
            stats_sort(samples[i], call->repetitions);
    }
    double nbc =
        code == MPI_SUCCESS ? stats_quantile(samples[OVERLAP_NBC], call->repetitions, 0.5) : 0;
    for (int i = 0; i < schemes; i++) {
        call->scheme = (overlap_scheme)i;
        if (rank == 0 && code == MPI_SUCCESS)
            print_row(call, spec, ranks, samples[i], nbc, json);
        free(samples[i]);
    }
    return code;
}

/* What is measured with one number of DCPs, or with none. */
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
    int rank;
    struct output json = {0};
    for (int i = 0; i < options->spec_count; i++) /* bad ones are refused before all */
        dcp_job_run(program, options->specs[i], NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        output_open(&json, options->json, &problem);
    cli_agree(MPI_COMM_WORLD, program, problem.text);
    if (rank == 0)
        print_heading();
    dcp_job_run(program, NULL, measure_all, &(measurement){options, no_dcps, json.file});
    for (int i = 0; i < options->spec_count; i++)
        dcp_job_run(program, options->specs[i], measure_all,
                    &(measurement){options, options->specs[i], json.file});
    output_commit(&json, &problem);
    cli_agree(MPI_COMM_WORLD, program, problem.text);
}

int bench_dcp_main(int argc, char **argv) {
    command options = {.reps = 1000};
    parse(argc, argv, &options);
    if (!*problem.text && options.help)
        return fputs(help, stdout) < 0;
    if (!*problem.text && options.version)
        return printf("%s (libcoll) %s\n", program, COLL_Version()) < 0;
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return EXIT_FAILURE;
    cli_agree(MPI_COMM_WORLD, program, problem.text);
    measure_specs(&options);
    for (int i = 0; i < options.spec_count; i++)
        free(options.specs[i]);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
