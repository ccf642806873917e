/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-kmeans: the options and the main program; kmeans.h does the work. */
#include "config.h"

#include "app/agreement.h"
#include "app/clocks.h"
#include "app/files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/progress.h"
#include "kmeans/assign/cluster_sums.h"
#include "kmeans/assign/threads.h"
#include "kmeans/batches.h"
#include "kmeans/benchmark.h"
#include "kmeans/checkpoint.h"
#include "kmeans/km_predict.h"
#include "kmeans/km_report.h"
#include "kmeans/kmeans.h"
#include "kmeans/points/weights.h"

#include <coll.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "coll-kmeans";

static const char usage[] =
    "usage: mpirun -n RANKS coll-kmeans --k K [options] POINTS... --centroids FILE.npy [--assign "
    "FILE.npy]\n"
    "       mpirun -n RANKS coll-kmeans predict --centroids FILE POINTS... --assign FILE.npy\n"
    "       coll-kmeans --benchmark | --help | predict --help | --version\n"
    "\n"
    "Clusters points with K-means over any number of MPI ranks; exact if the features are\n"
    "unsigned bytes. The result is the same, bit for bit, for any number of ranks and threads.\n"
    "\n"
    "POINTS are files, and directories of files, read in the byte order of their paths:\n"
    "  .npy     rows x features, uint8, int8, float16, float32 or float64\n"
    "  .bvecs   the number of features as a 32-bit integer before each row (.fvecs: float32)\n"
    "  .u8bin   the numbers of rows and features before all rows (.i8bin: int8, .fbin: float32)\n"
    "  .h5:/X   the dataset /X of an HDF5 file, rows x features: file.h5:/train\n"
    "  IDX      MNIST's format, unsigned bytes, plain or gzipped\n"
    "  others   text, a point on each line: picture id, row id, column id, features\n"
    "If all features are whole numbers from 0 to 255, they are converted to bytes.\n"
    "Otherwise they are converted to float32, and so are the centroids.\n";

static const char notes[] =
    "Start: k distinct rows, chosen by the seed. Ties: of equally near centroids, the one with\n"
    "the lowest number. Update: the mean, rounded to the nearest integer, half up (float: to\n"
    "2^-16). Empty clusters, in ascending order, move to the points with the largest squared\n"
    "distances from their centroids (distances of equal points are added up; ties: the lowest\n"
    "row). Points of clusters with one member and points on their centroid are not used. Stop:\n"
    "nothing moves any more, --tolerance, or --iterations. The points are then assigned to the\n"
    "final centroids, so that the two files belong together.\n"
    "\n"
    "The objective is the exact sum of squared distances. Compared with exact means, rounding\n"
    "adds at most points x features / 4 to it. It still never rises from one iteration to the\n"
    "next: the integer nearest to a mean is the best of all integers, and the old centroid's is\n"
    "one, too. With --centroids-as float, rounding adds next to nothing.\n"
    "\n"
    "Bytes are compared with the fastest kernel that the processor has: avx512-vnni, avx-vnni,\n"
    "avx2, neon-i8mm, neon-dotprod (64-bit ARM), or else scalar, in plain C. The first line of\n"
    "the output says which; COLL_KMEANS_KERNEL names another one.\n";

typedef struct command {
    km_settings settings;
    const char *bcast, *aggregate, *json, *centroids, *assign, *mapped, *weights;
    app_words points;
    km_batches batches;
    int type;   /* of the centroids, see below */
    int metric; /* KM_EUCLIDEAN or KM_COSINE */
    bool progress, benchmark;
} command;

/*
 * The values of --centroids-as. AUTO: bytes if the features are bytes, float if they are real
 * numbers.
 */
enum { AS_AUTO, AS_BYTES, AS_FLOAT };

static const char *type_name(int number) {
    static const char *const names[] = {"auto", "bytes", "float"};
    return number <= AS_FLOAT ? names[number] : NULL;
}

static bool parse_start(const char *text, void *context, app_problem *problem) {
    return km_init_parse(text, context, problem);
}

static bool check_settings(km_settings *settings, const km_batches *batches, app_problem *problem) {
    if (settings->checkpoint && batches->size)
        return app_refuse(problem, "--checkpoint: batches have none; leave out --batch");
    if (batches->quality_every && !batches->size)
        return app_refuse(problem, "--quality-every: needs --batch; without batches, every "
                                   "iteration prints the objective");
    if (!settings->checkpoint &&
        (settings->resume || settings->every || settings->every_seconds >= 0))
        return app_refuse(problem, "--resume and --every need --checkpoint DIR");
    if (settings->every_seconds < 0 && !settings->every)
        settings->every_seconds = 300;
    return true;
}

/* The options of the command line; at first their defaults. */
static command options = {.settings = {.seed = 1,
                                       .iterations = 10,
                                       .tolerance = -1,
                                       .moved = -1,
                                       .gain = -1,
                                       .seconds = -1,
                                       .every_seconds = -1}};

static const app_option table[] = {
    {"k", "K", "number of clusters; K, M and G are powers of 1024: 64K",
     .size = &options.settings.k, .least = 1, .most = INT32_MAX, .required = true},
    {"a file of points", .operands = &options.points, .required = true},
    {"centroids", "FILE.npy", "write the centroids here: k x features, uint8 (or float32)",
     .text = &options.centroids, .required = true},
    {"centroids-as", "TYPE",
     "bytes: means rounded to whole numbers; float: means to 2^-16, for a lower objective in "
     "somewhat more time; auto: like the features. TYPE is one of:",
     .choice = &options.type, .nth = type_name},
    {"metric", "NAME",
     "euclidean; or cosine: rows and centroids are scaled to length 1. NAME is one of:",
     .choice = &options.metric, .nth = km_metric_name},
    {"assign", "FILE.npy", "write each point's cluster here: int32, in the points' order",
     .text = &options.assign},
    {"weights", "FILE.npy",
     "the weight of each point, in the points' order: numbers from 0 on, of any type; a point of "
     "weight 3 counts like three equal points",
     .text = &options.weights},
    {"iterations", "N", "stop after N iterations", .integer = &options.settings.iterations,
     .most = INT32_MAX},
    {"tolerance", "T", "stop when no centroid moves farther than T (Euclidean)",
     .number = &options.settings.tolerance, .most = 1e30},
    {"moved", "S", "stop when no more than this share of the points moves: 0.001",
     .number = &options.settings.moved, .most = 1},
    {"gain", "S", "stop when the objective falls by no more than this share of itself",
     .number = &options.settings.gain, .most = 1},
    {"seconds", "S", "start no more iterations after S seconds",
     .number = &options.settings.seconds, .most = 1e9},
    {"start", "METHOD",
     "random (default), k-means++, k-means||[:rounds=5,memory=256M], afk-mc2[:chain=200], or "
     "file:PATH with k points in any format",
     .take = parse_start, .context = &options.settings.start},
    {"batch", "N",
     "begin with a random batch of about N points, continue with twice as many, and so on, finally "
     "with all of them for --iterations; faster, with a hardly higher objective",
     .size = &options.batches.size, .least = 1, .most = INT64_MAX},
    {"quality-every", "N",
     "with --batch: after every N batches print the objective over all points, which takes as "
     "long as assigning them",
     .size = &options.batches.quality_every, .least = 1, .most = INT64_MAX},
    {"checkpoint", "DIR", "save the state in DIR/checkpoint, also within an iteration",
     .text = &options.settings.checkpoint},
    {"every", "N", "checkpoint after every N iterations", .integer = &options.settings.every,
     .least = 1, .most = INT32_MAX},
    {"every-seconds", "S", "checkpoint every S seconds (default 300; with --every, none)",
     .number = &options.settings.every_seconds, .most = 1e9},
    {"resume", NULL, "continue from the checkpoint in DIR, with any number of ranks and threads",
     .flag = &options.settings.resume},
    {"mapped", "DIR",
     "leave the points on disk, if they exceed memory: a single file of bytes (.npy, .u8bin, plain "
     "IDX) is mapped itself, anything else as a copy in DIR",
     .text = &options.mapped},
    {"threads", "T", "threads of each rank (default: its processors, shared fairly)",
     .integer = &options.settings.threads, .least = 1, .most = 1024},
    {"whole", NULL,
     "compare all points with all centroids in full, without sketches and bounds; slower, with "
     "the same result",
     .flag = &options.settings.whole},
    {"seed", "S", "seed of the initial centroids", .size = &options.settings.seed},
    {"bcast", "SPEC", "algorithm of the broadcast, e.g. chain:segment=32K (or COLL_BCAST)",
     .text = &options.bcast},
    {"aggregate", "SPEC", "algorithm of the aggregation (or COLL_AGGREGATE)",
     .text = &options.aggregate},
    APP_JSON_OPTION(&options.json),
    APP_PROGRESS_OPTION,
    {"progress", NULL, NULL,
     .flag =
         &options.progress}, /* accepted for compatibility: progress is printed by default now */
    {"benchmark", NULL, "measure the assignment kernels and compare them with the processor's peak",
     .flag = &options.benchmark, .alone = true},
};

static bool parse_options(int argc, char **argv, app_problem *problem) {
    const app_command line = {program, usage, notes, APP_TABLE(table)};
    return app_parse(&line, argc, argv, problem) &&
           (options.benchmark || check_settings(&options.settings, &options.batches, problem));
}

/*
 * Sets the algorithms of the broadcast and of the aggregation, and calls both operations once, so
 * that wrong settings show before the points are read.
 */
static bool choose_algorithms(MPI_Comm comm, app_problem *problem) {
    COLL_Pool *pool = NULL;
    uint8_t nothing = 0;
    if (options.bcast)
        app_mpi(problem, COLL_Set(comm, "bcast", options.bcast));
    if (options.aggregate)
        app_mpi(problem, COLL_Set(comm, "aggregate", options.aggregate));
    km_cluster_sums_pool(&(km_points){.dim = 1, .total = 1}, &pool, problem);
    bool good = app_agree(problem, comm);
    if (good) {
        if (app_mpi(problem, COLL_Bcast(&nothing, 1, MPI_UINT8_T, 0, comm)))
            app_mpi(problem, COLL_Aggregate(pool, 0, comm, NULL));
        good = app_agree(problem, comm);
    }
    COLL_Pool_free(&pool);
    return good;
}

static void check_paths(app_problem *problem) {
    const km_settings *settings = &options.settings;
    char *checkpoint = settings->checkpoint ? km_checkpoint_path(settings->checkpoint) : NULL;
    char *start = settings->start.path ? km_points_file(settings->start.path) : NULL;
    char **points = km_points_files(options.points.words, options.points.count);
    if (!points)
        app_refuse(problem, "out of memory");
    const app_file_use files[] = {
        {APP_FILE_WRITTEN, "--centroids", &options.centroids, 1, NULL},
        {APP_FILE_WRITTEN, "--assign", &options.assign, 1, NULL},
        {APP_FILE_WRITTEN, "--json", &options.json, 1, NULL},
        {APP_FILE_READ, "POINTS", (const char *const *)points, points ? options.points.count : 0,
         NULL},
        {APP_FILE_READ, "--weights", &options.weights, 1, NULL},
        {APP_FILE_READ, "--start file:", (const char *const *)&start, 1, NULL},
        {APP_FILE_READ, "--checkpoint", (const char *const *)&checkpoint, 1, NULL}};
    app_files_check(files, sizeof files / sizeof *files, problem);
    km_points_files_free(points);
    free(start);
    free(checkpoint);
}

static bool check_files(MPI_Comm comm, app_problem *problem) {
    if (app_rank(comm) == 0)
        check_paths(problem);
    return app_agree(problem, comm);
}

static bool choose_kernel(km_settings *settings, MPI_Comm comm, app_problem *problem) {
    char text[256];
    settings->kernel = km_kernel_best(text, sizeof text);
    if (!settings->kernel)
        app_refuse(problem, "%s", text);
    return app_agree(problem, comm) &&
           (settings->threads || km_default_threads(comm, &settings->threads, problem));
}

/* Measures this machine; without MPI, so that it also works without mpirun. */
static bool run_benchmark(app_problem *problem) {
    int threads = options.settings.threads;
    app_output json;
    if (!app_output_open(&json, options.json, problem))
        return false;
    int code = km_benchmark(threads ? threads : 1, json.file);
    bool good = code ? app_refuse(problem, "the benchmark failed: %s", strerror(code))
                     : app_output_flush_stdout(problem) && app_output_commit(&json, problem);
    app_output_discard(&json);
    return good;
}

/* Clusters POINTS and writes the result. */
static bool cluster_points(const km_points *points, km_report *report, MPI_Comm comm,
                           app_problem *problem) {
    km_result result;
    const km_settings *settings = &options.settings;
    const km_batches *batches = &options.batches;
    const km_observer observer = {.batch = km_report_batch,
                                  .quality = km_report_quality,
                                  .step = km_report_step,
                                  .progress = km_report_progress,
                                  .note = km_report_note,
                                  .context = report};
    if (!(batches->size
              ? km_cluster_batches(points, batches, settings, &observer, comm, &result, problem)
              : km_cluster(points, settings, &observer, comm, &result, problem)))
        return false;
    if (app_rank(comm) == 0)
        km_report_end(report, &result);
    double start = app_seconds();
    bool good = km_write_result(&result, points, options.settings.k, options.centroids,
                                options.assign, comm, problem);
    if (good && app_rank(comm) == 0)
        km_report_times(report, &result, app_seconds() - start);
    km_result_free(&result);
    return good;
}

/* Sets the type of the centroids as --centroids-as asks for. */
static void set_centroid_type(km_points *points, app_problem *problem) {
    if (points->real.used && options.type == AS_BYTES)
        app_refuse(problem, "--centroids-as bytes: the features are real numbers; use float");
    else if (!points->real.used && options.type == AS_FLOAT)
        km_points_use_fixed_point(points, problem);
}

static bool run_command(MPI_Comm comm, app_problem *problem) {
    int rank = app_rank(comm), ranks = app_ranks(comm);
    km_points points;
    app_output json = {0};
    km_report report = {.json = NULL};
    if (!check_files(comm, problem) || !choose_algorithms(comm, problem) ||
        !choose_kernel(&options.settings, comm, problem))
        return false;
    double start = app_seconds();
    if (!km_points_load(options.points.words, options.points.count, options.mapped, true, comm,
                        &points, problem))
        return false;
    if ((!options.weights || km_points_read_weights(&points, options.weights, comm, problem)) &&
        (options.metric != KM_COSINE ||
         km_points_use_cosine(&points, options.mapped, comm, problem)))
        set_centroid_type(&points, problem);
    if (options.batches.size && options.batches.size < options.settings.k)
        app_refuse(problem, "--batch %" PRIu64 ": at least --k, which is %" PRIu64 ", is needed",
                   options.batches.size, options.settings.k);
    if (options.settings.k > points.total)
        app_refuse(problem, "--k %" PRIu64 ": there are only %" PRIu64 " points",
                   options.settings.k, points.total);
    if (rank == 0 && !problem->text[0])
        app_output_open(&json, options.json, problem);
    report.json = json.file;
    bool good = app_agree(problem, comm);
    if (good) {
        if (rank == 0)
            km_report_begin(&report, &points, &options.settings, ranks, app_seconds() - start);
        good = cluster_points(&points, &report, comm, problem) &&
               app_output_flush_stdout(problem) && app_output_commit(&json, problem);
        good = app_agree(problem, comm) && good;
    }
    app_output_discard(&json);
    km_points_free(&points);
    return good;
}

int main(int argc, char **argv) {
    app_problem problem = {""};
    if (argc > 1 && !strcmp(argv[1], "predict"))
        return km_predict_main(argc - 1, argv + 1);
    parse_options(argc, argv, &problem);
    if (!problem.text[0] && options.benchmark) {
        if (run_benchmark(&problem))
            return EXIT_SUCCESS;
        fprintf(stderr, "%s: %s\n", program, problem.text);
        return EXIT_FAILURE;
    }

    MPI_Comm comm = app_begin(&argc, &argv, program, &problem);
    run_command(comm, &problem);
    app_words_free(&options.points);
    app_agree_or_end(comm, program, &problem);
    return app_end(&comm);
}
