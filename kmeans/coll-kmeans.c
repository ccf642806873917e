/* coll-kmeans: options and the order of things; kmeans.h is the work. */
#include "config.h"

#include "app/cli.h"
#include "app/files.h"
#include "app/output.h"
#include "kmeans/assign/partial.h"
#include "kmeans/assign/threads.h"
#include "kmeans/benchmark.h"
#include "kmeans/checkpoint.h"
#include "kmeans/kmeans.h"
#include "kmeans/report.h"
#include "kmeans/result.h"

#include <coll.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program[] = "coll-kmeans";

static const char help[] =
    "usage: mpirun -n RANKS coll-kmeans --k K [options] POINTS... --centroids FILE.npy --assign "
    "FILE.npy\n"
    "       coll-kmeans --benchmark | --help | --version\n"
    "\n"
    "Clusters points by K-means over any number of MPI ranks: exactly where the features are "
    "unsigned\n"
    "bytes. The result is the same, bit for bit, for any number of ranks and threads.\n"
    "\n"
    "POINTS are one or more files, and directories of such, read in the byte order of their "
    "paths:\n"
    "  .npy     rows x features, uint8 or float32\n"
    "  .bvecs   the number of features as a 32-bit integer before each row (.fvecs: float32)\n"
    "  IDX      MNIST's format, unsigned bytes, plain or gzipped\n"
    "  others   text, a point on each line: picture id, row id, column id, features\n"
    "float32 features that are all whole numbers from 0 to 255 are taken as bytes, others as they "
    "are,\n"
    "with centroids of float32 (this needs OpenBLAS).\n"
    "\n"
    "  --k K               number of clusters; K, M and G are powers of 1024: 64K\n"
    "  --centroids FILE    write the centroids here: .npy, k x features, uint8 (or float32)\n"
    "  --assign FILE       write each point's cluster here: .npy, int32, in the points' order\n"
    "  --iterations N      stop after N iterations (default 10)\n"
    "  --tolerance T       stop when no centroid moves farther than T (Euclidean)\n"
    "  --moved S           stop when no more than this share of the points moves: 0.001\n"
    "  --gain S            stop when the objective falls by no more than this share of itself\n"
    "  --seconds S         start no more iterations after S seconds\n"
    "  --start METHOD      random (default), k-means++, k-means||[:rounds=5,memory=256M],\n"
    "                      afk-mc2[:chain=200], or file:PATH with k points in any format\n"
    "  --checkpoint DIR    keep what a crash would lose in DIR/checkpoint, also within an "
    "iteration\n"
    "  --every N           ... after every N iterations\n"
    "  --every-seconds S   ... every S seconds (default 300; with --every, none)\n"
    "  --resume            go on from the checkpoint in DIR, at any number of ranks and threads\n"
    "  --mapped DIR        leave the points on disk, for more than memory holds: one .npy of "
    "bytes\n"
    "                      where it is, anything else as a copy in DIR\n"
    "  --threads T         threads of each rank (default: its processors, shared fairly)\n"
    "  --whole             compare all points with all centroids in full, leaving out none by "
    "their\n"
    "                      sketches; slower, with the same result\n"
    "  --seed S            chooses the initial centroids (default 1)\n"
    "  --bcast SPEC        algorithm of the broadcast, e.g. chain:chunk=32K (or COLL_BCAST)\n"
    "  --aggregate SPEC    algorithm of the aggregation (or COLL_AGGREGATE)\n"
    "  --json FILE         write the table as JSON too, an object on each line\n"
    "  --progress          show progress on stderr even where that is no terminal\n"
    "  --benchmark         print what the assignment kernel and the processor can do\n"
    "  --help, --version\n"
    "\n"
    "Start: k distinct rows, chosen by the seed. Ties: a point takes the nearest centroid of the\n"
    "lowest number. Update: the mean, rounded to the nearest integer, half up. Empty clusters, in\n"
    "ascending order, take the points farthest from their centroids, the farthest first, of "
    "equally\n"
    "far ones the lowest row; no points of clusters with one member, none that lie on their "
    "centroid.\n"
    "Stop: nothing moves any more, --tolerance, or --iterations. The points are then assigned to "
    "the\n"
    "final centroids, so that the two files belong together.\n"
    "\n"
    "The objective is the exact sum of squared distances. Rounding adds at most points x features "
    "/ 4\n"
    "to it in comparison with the exact means, but it never rises from one iteration to the "
    "next:\n"
    "the integer nearest to a mean is the best integer there is, the old centroid among them.\n";

typedef struct command {
    km_settings settings;
    const char *bcast, *aggregate, *json, *centroids, *assign, *mapped;
    const char *const *points;
    size_t files;
    bool progress, benchmark, help, version;
} command;

enum {
    OPTION_AGGREGATE = 256,
    OPTION_ASSIGN,
    OPTION_BCAST,
    OPTION_BENCHMARK,
    OPTION_CENTROIDS,
    OPTION_CHECKPOINT,
    OPTION_EVERY,
    OPTION_EVERY_SECONDS,
    OPTION_GAIN,
    OPTION_HELP,
    OPTION_ITERATIONS,
    OPTION_JSON,
    OPTION_K,
    OPTION_MAPPED,
    OPTION_MOVED,
    OPTION_PROGRESS,
    OPTION_RESUME,
    OPTION_SECONDS,
    OPTION_SEED,
    OPTION_START,
    OPTION_THREADS,
    OPTION_TOLERANCE,
    OPTION_VERSION,
    OPTION_WHOLE
};

static const struct option long_options[] = {
    {"aggregate", required_argument, NULL, OPTION_AGGREGATE},
    {"assign", required_argument, NULL, OPTION_ASSIGN},
    {"bcast", required_argument, NULL, OPTION_BCAST},
    {"benchmark", no_argument, NULL, OPTION_BENCHMARK},
    {"centroids", required_argument, NULL, OPTION_CENTROIDS},
    {"checkpoint", required_argument, NULL, OPTION_CHECKPOINT},
    {"every", required_argument, NULL, OPTION_EVERY},
    {"every-seconds", required_argument, NULL, OPTION_EVERY_SECONDS},
    {"gain", required_argument, NULL, OPTION_GAIN},
    {"help", no_argument, NULL, OPTION_HELP},
    {"iterations", required_argument, NULL, OPTION_ITERATIONS},
    {"json", required_argument, NULL, OPTION_JSON},
    {"k", required_argument, NULL, OPTION_K},
    {"mapped", required_argument, NULL, OPTION_MAPPED},
    {"moved", required_argument, NULL, OPTION_MOVED},
    {"progress", no_argument, NULL, OPTION_PROGRESS},
    {"resume", no_argument, NULL, OPTION_RESUME},
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"start", required_argument, NULL, OPTION_START},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"tolerance", required_argument, NULL, OPTION_TOLERANCE},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"whole", no_argument, NULL, OPTION_WHOLE},
    {NULL, 0, NULL, 0},
};

static bool take_k(const char *text, size_t *k, struct problem *problem) {
    uint64_t value;
    if (!cli_parse_size(text, &value) || value < 1 || value > INT32_MAX)
        return problem_set(problem, "--k %s: a number from 1 to %" PRId32 " is needed", text,
                           INT32_MAX);
    *k = (size_t)value;
    return true;
}

static bool take_integer(const char *name, const char *text, int64_t lowest, int64_t highest,
                         int64_t *value, struct problem *problem) {
    return cli_parse_integer(text, lowest, highest, value) ||
           problem_set(problem, "--%s %s: a number from %" PRId64 " to %" PRId64 " is needed", name,
                       text, lowest, highest);
}

static const double MOST_SECONDS = 1e9, MOST_TOLERANCE = 1e30;

static bool take_option(int option, const char *text, command *options, struct problem *problem) {
    km_settings *settings = &options->settings;
    int64_t integer = 0;
    bool good = true;
    switch (option) {
    case OPTION_AGGREGATE:
        options->aggregate = text;
        break;
    case OPTION_ASSIGN:
        options->assign = text;
        break;
    case OPTION_BCAST:
        options->bcast = text;
        break;
    case OPTION_BENCHMARK:
        options->benchmark = true;
        break;
    case OPTION_CENTROIDS:
        options->centroids = text;
        break;
    case OPTION_CHECKPOINT:
        settings->checkpoint = text;
        break;
    case OPTION_EVERY:
        good = take_integer("every", text, 1, INT32_MAX, &settings->every, problem);
        break;
    case OPTION_EVERY_SECONDS:
        good = cli_take_number(problem, "every-seconds", text, 0, MOST_SECONDS,
                               &settings->every_seconds);
        break;
    case OPTION_GAIN:
        good = cli_take_number(problem, "gain", text, 0, 1, &settings->gain);
        break;
    case OPTION_HELP:
        options->help = true;
        break;
    case OPTION_ITERATIONS:
        good = take_integer("iterations", text, 0, INT32_MAX, &settings->iterations, problem);
        break;
    case OPTION_JSON:
        options->json = text;
        break;
    case OPTION_K:
        good = take_k(text, &settings->k, problem);
        break;
    case OPTION_MAPPED:
        options->mapped = text;
        break;
    case OPTION_MOVED:
        good = cli_take_number(problem, "moved", text, 0, 1, &settings->moved);
        break;
    case OPTION_PROGRESS:
        options->progress = true;
        break;
    case OPTION_RESUME:
        settings->resume = true;
        break;
    case OPTION_SECONDS:
        good = cli_take_number(problem, "seconds", text, 0, MOST_SECONDS, &settings->seconds);
        break;
    case OPTION_SEED:
        good = take_integer("seed", text, 0, INT64_MAX, &integer, problem);
        settings->seed = (uint64_t)integer;
        break;
    case OPTION_START:
        good = km_start_parse(text, &settings->start, problem);
        break;
    case OPTION_THREADS:
        good = take_integer("threads", text, 1, 1024, &integer, problem);
        settings->threads = (int)integer;
        break;
    case OPTION_TOLERANCE:
        good = cli_take_number(problem, "tolerance", text, 0, MOST_TOLERANCE, &settings->tolerance);
        break;
    case OPTION_VERSION:
        options->version = true;
        break;
    case OPTION_WHOLE:
        settings->whole = true;
        break;
    default:
        good = problem_set(problem, "option %d is not handled", option);
    }
    return good;
}

static bool require(const command *options, struct problem *problem) {
    const char *missing = !options->settings.k  ? "--k K"
                          : !options->files     ? "a file of points"
                          : !options->centroids ? "--centroids FILE"
                          : !options->assign    ? "--assign FILE"
                                                : NULL;
    if (missing)
        return problem_set(problem, "%s is missing; coll-kmeans --help explains", missing);
    const km_settings *settings = &options->settings;
    if (!settings->checkpoint &&
        (settings->resume || settings->every || settings->every_seconds >= 0))
        return problem_set(problem, "--resume and --every need --checkpoint DIR");
    return true;
}

static bool parse(int argc, char **argv, command *options, struct problem *problem) {
    int option;
    while ((option = cli_next_option(problem, program, argc, argv, long_options)) >= 0)
        if (!take_option(option, optarg, options, problem))
            return false;
    if (option == CLI_REFUSED)
        return false;
    options->points = (const char *const *)argv + optind;
    options->files = (size_t)(argc - optind);
    if (options->help || options->version || options->benchmark)
        return true;
    if (!require(options, problem))
        return false;
    if (options->settings.every_seconds < 0 && !options->settings.every)
        options->settings.every_seconds = 300;
    return true;
}

/* Asks for the algorithms, and finds out at once whether all settings are known and allowed. */
static bool choose_algorithms(const command *options, MPI_Comm comm, struct problem *problem) {
    COLL_Pool *pool = NULL;
    uint8_t nothing = 0;
    if (options->bcast)
        km_mpi(problem, COLL_Set(comm, "bcast", options->bcast));
    if (options->aggregate)
        km_mpi(problem, COLL_Set(comm, "aggregate", options->aggregate));
    km_partial_pool(&(km_points){.dim = 1, .total = 1}, &pool, problem);
    bool good = km_agree(problem, comm);
    if (good) {
        if (km_mpi(problem, COLL_Bcast(&nothing, 1, MPI_UINT8_T, 0, comm)))
            km_mpi(problem, COLL_Aggregate(pool, 0, comm, NULL));
        good = km_agree(problem, comm);
    }
    COLL_Pool_free(&pool);
    return good;
}

static void check_paths(const command *options, struct problem *problem) {
    const km_settings *settings = &options->settings;
    char *checkpoint = settings->checkpoint ? km_checkpoint_path(settings->checkpoint) : NULL;
    const file_use files[] = {
        {FILE_WRITTEN, "--centroids", &options->centroids, 1, NULL},
        {FILE_WRITTEN, "--assign", &options->assign, 1, NULL},
        {FILE_WRITTEN, "--json", &options->json, 1, NULL},
        {FILE_READ, "POINTS", options->points, options->files, NULL},
        {FILE_READ, "--start file:", &settings->start.path, 1, NULL},
        {FILE_READ, "--checkpoint", (const char *const *)&checkpoint, 1, NULL}};
    files_check(files, sizeof files / sizeof *files, problem);
    free(checkpoint);
}

static bool check_files(const command *options, MPI_Comm comm, struct problem *problem) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        check_paths(options, problem);
    return km_agree(problem, comm);
}

static bool choose_kernel(km_settings *settings, MPI_Comm comm, struct problem *problem) {
    char text[256];
    settings->kernel = km_kernel_best(text, sizeof text);
    if (!settings->kernel)
        problem_set(problem, "%s", text);
    return km_agree(problem, comm) &&
           (settings->threads || km_default_threads(comm, &settings->threads, problem));
}

/* Measures this machine; without MPI, so that it also works without mpirun. */
static bool benchmark(const command *options, struct problem *problem) {
    int threads = options->settings.threads;
    struct output json;
    if (!output_open(&json, options->json, problem))
        return false;
    int code = km_benchmark(stdout, threads ? threads : 1, json.file);
    bool good = code ? problem_set(problem, "the benchmark failed: %s", strerror(code))
                     : output_commit(&json, problem);
    output_discard(&json);
    return good;
}

/* Clusters POINTS and writes the result. */
static bool cluster(const command *options, const km_points *points, km_report *report,
                    MPI_Comm comm, struct problem *problem) {
    km_result result;
    int rank;
    km_observer observer = {report_step, report_progress, report_note, report};
    MPI_Comm_rank(comm, &rank);
    if (!km_cluster(points, &options->settings, &observer, comm, &result, problem))
        return false;
    if (rank == 0)
        report_end(report, &result);
    bool good = km_write_result(&result, points, options->settings.k, options->centroids,
                                options->assign, comm, problem);
    km_result_free(&result);
    return good;
}

/* Real features have a kernel of their own, and not all that bytes have. */
static void take_reals(command *options, const km_kernel *kernel, int rank,
                       struct problem *problem) {
    km_settings *settings = &options->settings;
    bool random = !settings->start.method || settings->start.method == &km_start_random;
    settings->kernel = kernel;
    if (!random || settings->checkpoint)
        problem_set(problem, "%s: for features that are whole numbers from 0 to 255 alone",
                    random ? "--checkpoint" : "--start");
    else if (rank == 0)
        report_core_type();
}

static bool run(command *options, MPI_Comm comm, struct problem *problem) {
    int rank, ranks;
    km_points points;
    struct output json = {0};
    km_report report = {.json = NULL, .progress = options->progress || isatty(STDERR_FILENO)};
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (!check_files(options, comm, problem) || !choose_algorithms(options, comm, problem) ||
        !choose_kernel(&options->settings, comm, problem))
        return false;
    const km_kernel *real = km_kernel_real();
    double start = MPI_Wtime();
    if (!km_points_load(options->points, options->files, options->mapped, real != NULL, comm,
                        &points, problem))
        return false;
    if (points.real.used)
        take_reals(options, real, rank, problem);
    if (options->settings.k > points.total)
        problem_set(problem, "--k %zu: there are only %" PRIu64 " points", options->settings.k,
                    points.total);
    if (rank == 0 && !problem->text[0])
        output_open(&json, options->json, problem);
    report.json = json.file;
    bool good = km_agree(problem, comm);
    if (good) {
        if (rank == 0)
            report_begin(&report, &points, &options->settings, ranks, MPI_Wtime() - start);
        good = cluster(options, &points, &report, comm, problem) && output_commit(&json, problem);
        good = km_agree(problem, comm) && good;
    }
    output_discard(&json);
    km_points_free(&points);
    return good;
}

int main(int argc, char **argv) {
    command options = {.settings = {.seed = 1,
                                    .iterations = 10,
                                    .tolerance = -1,
                                    .moved = -1,
                                    .gain = -1,
                                    .seconds = -1,
                                    .every_seconds = -1}};
    struct problem problem = {""};
    parse(argc, argv, &options, &problem);
    if (!problem.text[0] && options.help)
        return fputs(help, stdout) < 0;
    if (!problem.text[0] && options.version)
        return printf("%s (libcoll) %s\n", program, COLL_Version()) < 0;
    if (!problem.text[0] && options.benchmark) {
        if (benchmark(&options, &problem))
            return EXIT_SUCCESS;
        fprintf(stderr, "%s: %s\n", program, problem.text);
        return EXIT_FAILURE;
    }

    MPI_Comm comm = cli_begin(&argc, &argv, program, problem.text);
    bool good = run(&options, comm, &problem);
    cli_agree(comm, program, good ? "" : problem.text);
    return cli_end(&comm);
}
