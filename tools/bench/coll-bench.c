/* coll-bench: options and printing; bench.h measures. */
#include "config.h"

#include "app/cli.h"
#include "app/output.h"
#include "app/stats.h"
#include "tools/bench/bench-dcp.h"
#include "tools/bench/bench.h"
#include "tools/bench/drops.h"
#include "tools/bench/rivals.h"

#include <coll.h>
#include <coll_tools.h>

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program[] = "coll-bench";

static const char help[] =
    "usage: mpirun -n RANKS coll-bench bcast|gather|gatherv [OPTION...]\n"
    "       mpirun -n RANKS coll-bench dcp --dcp LIST [OPTION...]   (see coll-bench dcp --help)\n"
    "\n"
    "Measures libcoll's algorithms beside the MPI library's own, all in one run, from a common\n"
    "start to the last rank's end; an OSU-style table.\n"
    "\n"
    "  --sizes LIST       sizes in bytes, 4K,1M, and ranges by powers of 2, 1K-64K\n"
    "                     (default 1-4M)\n"
    "  --algorithms LIST  what to measure of libcoll, separated by spaces or semicolons:\n"
    "                     auto, chain, \"chain:chunk=8K,window=4\" (default: auto and all)\n"
    "  --rivals           also Open MPI's own by forced algorithm and segment size, those of its\n"
    "                     components han and adapt, and the nonblocking one\n"
    "  --no-native        without the MPI library's default, which may take very long\n"
    "  --predict          also what libcoll's cost model predicts, and by how much it is wrong\n"
    "  --root RANK        (default 0)\n"
    "  --reps N           so many repetitions (default: 5 at least, until the medians are steady)\n"
    "  --seconds S        no new repetition of a size after so many seconds (default 20)\n"
    "  --warmup N         repetitions that don't count (default 1)\n"
    "  --all-rivals       repeat even the rivals that are over twice as slow as the best one\n"
    "  --verify           compare what arrives, after every run\n"
    "  --drops COMMAND    a column of packets dropped per run: COMMAND prints how many there were\n"
    "                     so far, as does \"netlab drops --total\"\n"
    "  --json FILE        write the rows as JSON too, an object on each line\n"
    "  --help, --version\n"
    "\n"
    "native is the MPI library's default, wire one message of the same size from the root to one\n"
    "other node: the limit. Gathers bring so many bytes from every rank, and their wire is one\n"
    "message of the total from one other node; for gatherv one rank brings half of that. "
    "vs_native\n"
    "and of_wire are ratios of medians: above 1 is faster than native, 1 is as fast as the wire.\n"
    "cpu_ms is the processor time of all ranks together.\n";

enum { SIZES_MAX = 128, SPECS_MAX = 64 };

typedef struct command {
    size_t sizes[SIZES_MAX];
    int size_count;
    char *spec_text; /* what specs point into */
    const char *specs[SPECS_MAX + 1];
    bool rivals, no_native, predict, help, version;
    const char *json;
    bench_settings settings;
} command;

enum {
    OPTION_SIZES = 256,
    OPTION_ALGORITHMS,
    OPTION_RIVALS,
    OPTION_PREDICT,
    OPTION_ROOT,
    OPTION_REPS,
    OPTION_SECONDS,
    OPTION_WARMUP,
    OPTION_ALL_RIVALS,
    OPTION_NO_NATIVE,
    OPTION_VERIFY,
    OPTION_DROPS,
    OPTION_JSON,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"sizes", required_argument, NULL, OPTION_SIZES},
    {"algorithms", required_argument, NULL, OPTION_ALGORITHMS},
    {"rivals", no_argument, NULL, OPTION_RIVALS},
    {"predict", no_argument, NULL, OPTION_PREDICT},
    {"root", required_argument, NULL, OPTION_ROOT},
    {"reps", required_argument, NULL, OPTION_REPS},
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"warmup", required_argument, NULL, OPTION_WARMUP},
    {"all-rivals", no_argument, NULL, OPTION_ALL_RIVALS},
    {"no-native", no_argument, NULL, OPTION_NO_NATIVE},
    {"verify", no_argument, NULL, OPTION_VERIFY},
    {"drops", required_argument, NULL, OPTION_DROPS},
    {"json", required_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

/* A problem of this rank; the first one counts. */
static cli_problem problem;

static bool add_size(command *options, uint64_t size) {
    if (options->size_count == SIZES_MAX)
        return cli_refuse(&problem, "--sizes: more than %d sizes", SIZES_MAX);
    if (size > PTRDIFF_MAX)
        return cli_refuse(&problem, "--sizes: %" PRIu64 " bytes are more than memory can hold",
                          size);
    options->sizes[options->size_count++] = (size_t)size;
    return true;
}

/* "4K" or "1K-64K" */
static bool add_sizes(command *options, const char *item) {
    char text[64];
    uint64_t from, to;
    snprintf(text, sizeof text, "%s", item);
    char *dash = strchr(text, '-');
    if (dash)
        *dash = '\0';
    bool good = cli_parse_size(text, &from) && from > 0;
    to = from;
    if (good && dash)
        good = cli_parse_size(dash + 1, &to) && from <= to;
    if (!good)
        return cli_refuse(&problem,
                          "--sizes: %s is no size; write 4096, 64K, 16M or a range 1K-64K", item);
    for (uint64_t size = from; size <= to; size *= 2) {
        if (!add_size(options, size))
            return false;
        if (size > to / 2)
            break;
    }
    return true;
}

static bool take_sizes(command *options, const char *list) {
    char *copy = strdup(list), *rest = NULL;
    options->size_count = 0;
    bool good = copy != NULL;
    for (char *item = copy ? strtok_r(copy, ",", &rest) : NULL; item && good;
         item = strtok_r(NULL, ",", &rest))
        good = add_sizes(options, item);
    free(copy);
    return good && (options->size_count || cli_refuse(&problem, "--sizes: the list is empty"));
}

static bool take_algorithms(command *options, const char *list) {
    char *rest = NULL;
    int count = 0;
    free(options->spec_text);
    options->spec_text = strdup(list);
    if (!options->spec_text)
        return cli_refuse(&problem, "out of memory");
    for (char *item = strtok_r(options->spec_text, " ;", &rest); item;
         item = strtok_r(NULL, " ;", &rest)) {
        if (count == SPECS_MAX)
            return cli_refuse(&problem, "--algorithms: more than %d", SPECS_MAX);
        options->specs[count++] = item;
    }
    options->specs[count] = NULL;
    return count || cli_refuse(&problem, "--algorithms: the list is empty");
}

static bool take_integer(const char *name, const char *text, int lowest, int highest, int *value) {
    int64_t number;
    if (!cli_parse_integer(text, lowest, highest, &number))
        return cli_refuse(&problem, "--%s %s: a number from %d to %d is needed", name, text, lowest,
                          highest);
    *value = (int)number;
    return true;
}

static bool take_option(int option, const char *text, command *options) {
    bench_settings *settings = &options->settings;
    switch (option) {
    case OPTION_SIZES:
        return take_sizes(options, text);
    case OPTION_ALGORITHMS:
        return take_algorithms(options, text);
    case OPTION_PREDICT:
        options->predict = true;
        return true;
    case OPTION_RIVALS:
        options->rivals = true;
        return true;
    case OPTION_ROOT:
        return take_integer("root", text, 0, INT_MAX, &settings->root);
    case OPTION_REPS:
        if (!take_integer("reps", text, 1, 100000, &settings->most))
            return false;
        settings->least = settings->most;
        return true;
    case OPTION_SECONDS:
        return cli_take_number(&problem, "seconds", text, 0, 1e9, &settings->seconds);
    case OPTION_WARMUP:
        return take_integer("warmup", text, 0, 1000, &settings->warmups);
    case OPTION_ALL_RIVALS:
        settings->hopeless = 0;
        return true;
    case OPTION_NO_NATIVE:
        options->no_native = true;
        return true;
    case OPTION_VERIFY:
        settings->verify = true;
        return true;
    case OPTION_DROPS:
        settings->drops = text;
        return true;
    case OPTION_JSON:
        options->json = text;
        return true;
    case OPTION_HELP:
        options->help = true;
        return true;
    default:
        options->version = true;
        return true;
    }
}

static bool take_operation(int count, char **words, command *options) {
    static const char known[] = "bcast, gather, gatherv, dcp";
    if (count == 0)
        return cli_refuse(&problem, "no operation; known: %s", known);
    options->settings.operation = operation_find(words[0]);
    if (!options->settings.operation)
        return cli_refuse(&problem, "unknown operation %s; known: %s", words[0], known);
    return count == 1 ||
           cli_refuse(&problem, "unexpected argument %s; see coll-bench --help", words[1]);
}

static bool parse(int argc, char **argv, command *options) {
    int option;
    while ((option = cli_next_option(&problem, "coll-bench", argc, argv, long_options)) >= 0)
        if (!take_option(option, optarg, options))
            return false;
    if (option == CLI_REFUSED)
        return false;
    if (options->help || options->version)
        return true;
    if (!take_operation(argc - optind, argv + optind, options))
        return false;
    return options->size_count || take_sizes(options, "1-4M");
}

/* Between the root and the rank of params, in pieces of at most 1 GB; the others do nothing. */
static int run_wire(const contender *c, unsigned char *buffer, size_t bytes, int root,
                    bool to_root) {
    const size_t most = 1 << 30;
    int rank, peer = atoi(c->params + strcspn(c->params, "=") + 1);
    MPI_Comm_rank(c->comm, &rank);
    if (rank != root && rank != peer)
        return MPI_SUCCESS;
    int other = rank == root ? peer : root;
    for (size_t from = 0; from < bytes || from == 0; from += most) {
        int length = (int)(bytes - from < most ? bytes - from : most);
        int code =
            (rank == root) == to_root
                ? MPI_Recv(buffer + from, length, MPI_BYTE, other, 0, c->comm, MPI_STATUS_IGNORE)
                : MPI_Send(buffer + from, length, MPI_BYTE, other, 0, c->comm);
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

/* One message from the root. */
static int run_wire_from_root(const contender *c, void *buffer, size_t bytes, int root) {
    return run_wire(c, buffer, bytes, root, false);
}

/* One message to the root, as long as those of all other ranks together. */
static int run_wire_to_root(const contender *c, void *buffer, size_t bytes, int root) {
    int ranks;
    MPI_Comm_size(c->comm, &ranks);
    return run_wire(c, buffer, bytes * (size_t)(ranks - 1), root, true);
}

/* The last rank on another node than ROOT's; on one node, the last rank but ROOT itself. */
static int find_peer(int root, MPI_Comm comm, int *peer) {
    MPI_Comm node;
    int rank, ranks, home, far;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
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

static bool choose(const command *options, MPI_Comm comm, contender_list *list) {
    const operation *op = options->settings.operation;
    int peer = -1, ranks, code;
    char params[CONTENDER_PARAMS];
    MPI_Comm_size(comm, &ranks);
    code = options->no_native
               ? MPI_SUCCESS
               : contender_add(list, CONTENDER_NATIVE, "native", "", op->native, comm);
    if (code == MPI_SUCCESS)
        code = contender_add_ours(list, op->library, *options->specs ? options->specs : op->specs,
                                  op->ours, comm);
    if (code == MPI_SUCCESS && options->rivals)
        code = rivals_add(list, op, comm);
    if (code == MPI_SUCCESS && ranks > 1)
        code = find_peer(options->settings.root, comm, &peer);
    snprintf(params, sizeof params, "%s=%d", op->wire_to_root ? "from" : "to", peer);
    if (code == MPI_SUCCESS && ranks > 1)
        code = contender_add(list, CONTENDER_WIRE, "wire", params,
                             op->wire_to_root ? run_wire_to_root : run_wire_from_root, comm);
    return code == MPI_SUCCESS || cli_refuse_code(&problem, code);
}

static const contender *kind_of(const contender_list *list, contender_kind kind) {
    for (int i = 0; i < list->count; i++)
        if (list->at[i].kind == kind)
            return &list->at[i];
    return NULL;
}

static double median_of(const bench_result *result) {
    return result->count ? stats_quantile(result->samples, result->count, 0.5) : 0;
}

/* The median of the first contender of KIND, or 0. */
static double reference(const contender_list *list, const bench_result results[],
                        contender_kind kind) {
    const contender *c = kind_of(list, kind);
    return c ? median_of(&results[c - list->at]) : 0;
}

static void print_heading(const command *options, int ranks) {
    printf(
        "# %d ranks; times in us\n%-27s %-20s %10s %5s %12s %12s %12s %12s %9s %9s %8s %9s%s%s\n",
        ranks, "algorithm", "params", "bytes", "reps", "min", "median", "p95", "max", "MB/s",
        "vs_native", "of_wire", "cpu_ms", options->settings.drops ? "   dropped" : "",
        options->predict ? "    predicted  error_%" : "");
}

/*
 * What libcoll predicts of C at BYTES, where it can know the size; else false. Local: the state of
 * every communicator of libcoll was made when its algorithm was set.
 */
static bool find_prediction(const command *options, const contender_list *list, const contender *c,
                            size_t bytes, COLL_Candidate *found) {
    const operation *op = options->settings.operation;
    const contender *ours = c->kind == CONTENDER_OURS ? c : kind_of(list, CONTENDER_OURS);
    bool native = c->kind == CONTENDER_NATIVE;
    if (!options->predict || !ours || (!native && c->kind != CONTENDER_OURS) ||
        strcmp(op->name, op->library) != 0)
        return false;
    int code = contender_explain(ours->comm, op->library, bytes, options->settings.root,
                                 native ? "native" : NULL, found);
    return code == MPI_SUCCESS && found->name;
}

static void print_row(const command *options, const contender *c, const bench_result *result,
                      const COLL_Candidate *prediction, int ranks, size_t bytes, double native,
                      double wire, FILE *json) {
    if (!result->count) {
        printf("%-27s %-20s %10zu %5d  failed\n", c->algorithm, c->params, bytes, 0);
        return;
    }
    const double *samples = result->samples;
    int count = result->count;
    double median = median_of(result), p95 = stats_quantile(samples, count, 0.95);
    const operation *op = options->settings.operation;
    double rate = median > 0 ? (double)op->moved(bytes, ranks) / median / 1e6 : 0;
    double vs_native = native > 0 ? native / median : 0, of_wire = wire > 0 ? wire / median : 0;
    printf("%-27s %-20s %10zu %5d %12.1f %12.1f %12.1f %12.1f %9.2f %9.2f %8.3f %9.2f",
           c->algorithm, c->params, bytes, count, samples[0] * 1e6, median * 1e6, p95 * 1e6,
           samples[count - 1] * 1e6, rate, vs_native, of_wire, result->processor * 1e3);
    if (options->settings.drops)
        printf(" %9.2f", result->dropped);
    double predicted = prediction ? prediction->predicted : 0;
    if (prediction)
        printf(" %12.1f %8.1f", predicted * 1e6, 100 * (predicted / median - 1));
    puts(result->wrong ? "  WRONG DATA" : "");

    cli_json row;
    cli_json_begin(&row, json);
    cli_json_text(&row, "op", op->name);
    cli_json_text(&row, "algorithm", c->algorithm);
    cli_json_text(&row, "params", c->params);
    cli_json_integer(&row, "ranks", ranks);
    cli_json_integer(&row, "bytes", (int64_t)bytes);
    cli_json_integer(&row, "reps", count);
    cli_json_number(&row, "min_us", samples[0] * 1e6);
    cli_json_number(&row, "median_us", median * 1e6);
    cli_json_number(&row, "p95_us", p95 * 1e6);
    cli_json_number(&row, "max_us", samples[count - 1] * 1e6);
    cli_json_number(&row, "MBps", rate);
    cli_json_number(&row, "vs_native", vs_native);
    cli_json_number(&row, "of_wire", of_wire);
    cli_json_number(&row, "cpu_ms", result->processor * 1e3);
    if (options->settings.drops)
        cli_json_number(&row, "dropped", result->dropped);
    if (prediction) {
        cli_json_text(&row, "runs", prediction->spec);
        cli_json_integer(&row, "rival", prediction->rival);
        cli_json_number(&row, "predicted_us", predicted * 1e6);
        cli_json_number(&row, "model_us", prediction->model * 1e6);
    }
    cli_json_end(&row);
}

/* Under the rows of a size: the best forced setting of the MPI library, and how auto compares. */
static void print_best_rival(const contender_list *list, const bench_result results[]) {
    int best = -1, most = 0;
    double ours = 0;
    for (int i = 0; i < list->count; i++)
        most = results[i].count > most ? results[i].count : most;
    for (int i = 0; i < list->count; i++) {
        contender_kind kind = list->at[i].kind;
        if (results[i].count < most) /* failed, or far behind at the first sight */
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

static void show_progress(int round, double seconds) {
    fprintf(stderr, "\r%d rounds, %.0f s ", round, seconds);
    fflush(stderr);
}

static bool print_size(const command *options, const contender_list *list,
                       const bench_result results[], int ranks, size_t bytes, FILE *json) {
    double native = reference(list, results, CONTENDER_NATIVE);
    double wire = reference(list, results, CONTENDER_WIRE);
    bool good = true;
    for (int i = 0; i < list->count; i++) {
        COLL_Candidate prediction;
        bool predicted = find_prediction(options, list, &list->at[i], bytes, &prediction);
        print_row(options, &list->at[i], &results[i], predicted ? &prediction : NULL, ranks, bytes,
                  native, wire, json);
        if (results[i].wrong)
            good = cli_refuse(&problem, "%s %s: wrong data at %zu bytes", list->at[i].algorithm,
                              list->at[i].params, bytes);
        if (results[i].error != MPI_SUCCESS && list->at[i].kind == CONTENDER_OURS)
            good = cli_refuse_code(&problem, results[i].error);
    }
    if (options->rivals)
        print_best_rival(list, results);
    putchar('\n');
    fflush(stdout);
    return good;
}

static bool measure_size(const command *options, const contender_list *list,
                         const common_clock *clock, MPI_Comm comm, size_t bytes, FILE *json) {
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    bool terminal = isatty(STDERR_FILENO);
    bench_result *results = calloc((size_t)list->count, sizeof *results);
    if (!results)
        cli_abort(comm, program, "out of memory for %d results", list->count);
    int code = bench_run(list, bytes, &options->settings, clock, comm, results,
                         terminal ? show_progress : NULL);
    if (code == MPI_ERR_NO_MEM)
        cli_refuse(&problem, "some rank has no memory for %zu bytes", bytes);
    else if (code != MPI_SUCCESS)
        cli_refuse_code(&problem, code);
    if (rank == 0 && terminal)
        fputs("\r\033[K", stderr);
    if (rank == 0 && code == MPI_SUCCESS)
        print_size(options, list, results, ranks, bytes, json);
    bench_free(results, list->count);
    free(results);
    return code == MPI_SUCCESS;
}

static void agree(MPI_Comm comm) {
    cli_agree(comm, program, problem.text);
}

static void measure(command *options, MPI_Comm comm) {
    int rank, ranks;
    struct output json = {0};
    contender_list list = {0};
    common_clock clock;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (options->settings.root >= ranks)
        cli_refuse(&problem, "--root %d: there are %d ranks", options->settings.root, ranks);
    if (!*problem.text && rank == 0)
        output_open(&json, options->json, &problem);
    double dropped;
    if (!*problem.text && rank == 0 && options->settings.drops &&
        !drops_count(options->settings.drops, &dropped))
        cli_refuse(&problem, "--drops: '%s' fails or prints no number", options->settings.drops);
    agree(comm);
    choose(options, comm, &list);
    int code = common_clock_init(&clock, comm);
    if (code != MPI_SUCCESS)
        cli_refuse_code(&problem, code);
    agree(comm);

    if (rank == 0)
        print_heading(options, ranks);
    for (int i = 0; i < options->size_count; i++) {
        measure_size(options, &list, &clock, comm, options->sizes[i], json.file);
        agree(comm);
    }
    output_commit(&json, &problem);
    agree(comm);
    contender_free(&list);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "dcp") == 0)
        return bench_dcp_main(argc, argv);
    command options = {
        .settings = {
            .warmups = 1, .least = 5, .most = 1000, .seconds = 20, .steady = 0.02, .hopeless = 2}};
    parse(argc, argv, &options);
    if (!*problem.text && options.help)
        return fputs(help, stdout) < 0;
    if (!*problem.text && options.version)
        return printf("%s (libcoll) %s\n", program, COLL_Version()) < 0;
    if (options.rivals)
        rivals_prepare();
    MPI_Comm comm = cli_begin(&argc, &argv, program, problem.text);
    measure(&options, comm);
    free(options.spec_text);
    return cli_end(&comm);
}
