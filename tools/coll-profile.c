/*
 * coll-profile: options, order of measurements, printing; probe.h measures.
 *
 * Rank 0 has one pair of ranks measure at a time; all others sleep.
 */
#include "config.h"

#include "tools/cli.h"
#include "tools/pairs.h"
#include "tools/probe.h"
#include "tools/stats.h"

#include <coll.h>

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char program[] = "coll-profile";

static const char help[] =
    "usage: mpirun -n RANKS coll-profile --output FILE [OPTION...]\n"
    "\n"
    "Measures what messages cost at each level at which the ranks are apart (NUMA domain, node,\n"
    "rack, site, wide area), and writes a profile for the library to choose algorithms by.\n"
    "\n"
    "  --output FILE  the profile; name it by COLL_PROFILE, or put it where the library looks:\n"
    "                 ~/.config/libcoll/profile or /etc/libcoll/profile\n"
    "  --seconds S    how long to measure, in all (default 15); slow links take longer\n"
    "  --noise R      leave a level out where the middle half of its streams differ by more than\n"
    "                 R times their median (default 0.5)\n"
    "  --json FILE    write the table as JSON too, an object on each line\n"
    "  --help, --version\n"
    "\n"
    "Racks and sites come from COLL_TOPOLOGY. Nothing else should use the network meanwhile.\n";

enum { MOST_PAIRS = 4, TAG_GO = 21, TAG_RESULT };

typedef struct command {
    const char *output, *json;
    double seconds, noise;
    bool help, version;
} command;

static cli_problem problem;

static bool take_option(int option, const char *text, command *options) {
    switch (option) {
    case 'o':
        options->output = text;
        return true;
    case 's':
        return (cli_parse_number(text, &options->seconds) && options->seconds > 0 &&
                options->seconds <= 3600) ||
               cli_refuse(&problem, "--seconds %s: a number above 0, to 3600, is needed", text);
    case 'n':
        return (cli_parse_number(text, &options->noise) && options->noise > 0) ||
               cli_refuse(&problem, "--noise %s: a number above 0 is needed", text);
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
    static const struct option long_options[] = {{"output", required_argument, NULL, 'o'},
                                                 {"seconds", required_argument, NULL, 's'},
                                                 {"noise", required_argument, NULL, 'n'},
                                                 {"json", required_argument, NULL, 'j'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {"version", no_argument, NULL, 'v'},
                                                 {NULL, 0, NULL, 0}};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        const char *word = argv[optind - 1];
        if (option == ':')
            return cli_refuse(&problem, "option %s needs a value", word);
        if (option == '?')
            return cli_refuse(&problem, "unknown option %s; coll-profile --help lists them", word);
        if (!take_option(option, optarg, options))
            return false;
    }
    if (optind < argc)
        return cli_refuse(&problem, "unexpected argument %s; see coll-profile --help",
                          argv[optind]);
    if (!options->output && !options->help && !options->version)
        return cli_refuse(&problem, "--output FILE is missing");
    return true;
}

/* What can be known before measuring about whether PATH can be written. */
static bool check_output(const char *path) {
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return cli_refuse(&problem, "%s: can't be written: it is no regular file", path);
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path + 1)) : strdup(".");
    if (!folder)
        return cli_refuse(&problem, "out of memory");
    bool good = access(folder, W_OK) == 0;
    if (!good)
        cli_refuse(&problem, "%s: can't be written: directory %s: %s", path, folder,
                   strerror(errno));
    free(folder);
    return good;
}

/* One level's pairs and what they found. */
typedef struct level_row {
    rank_pair pairs[MOST_PAIRS];
    int count;
    double latency[MOST_PAIRS], overhead[MOST_PAIRS];
    double per_byte[MOST_PAIRS * PROBE_STREAMS];
    int streams;
    double spread; /* of per_byte: its middle half, as a share of the median */
    bool noisy;
} level_row;

typedef struct survey {
    MPI_Comm comm;
    int rank, ranks;
    level_row rows[COLL_LEVELS];
    double seconds; /* for each pair */
} survey;

static void give_up(const survey *s, int code) {
    if (code == MPI_SUCCESS)
        return;
    cli_refuse_code(&problem, code);
    cli_abort(s->comm, program, "%s", problem.text);
}

/* Waits with long sleeps: whoever is being measured should have the processors. */
static int wait_asleep(MPI_Request *request) {
    int code = MPI_SUCCESS;
    for (int done = 0; code == MPI_SUCCESS;) {
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            break;
        struct timespec time = {.tv_nsec = 5000000};
        nanosleep(&time, NULL);
    }
    return code;
}

static void add_result(level_row *row, int which, const probe_result *result) {
    row->latency[which] = result->latency;
    row->overhead[which] = result->overhead;
    for (int i = 0; i < result->streams; i++)
        row->per_byte[row->streams++] = result->per_byte[i];
}

/* This rank's part in measuring PAIR; what it found goes to rank 0. */
static int take_part(const survey *s, const rank_pair *pair, probe_result *result) {
    if (s->rank == pair->high)
        return probe_serve(pair->low, s->comm);
    int code = probe_measure(pair->high, s->comm, s->seconds, result);
    if (code == MPI_SUCCESS && s->rank != 0)
        code = MPI_Send(result, (int)sizeof *result, MPI_BYTE, 0, TAG_RESULT, s->comm);
    return code;
}

/* Rank 0: has a pair measure, and takes what it found. Rank 0 can only be the lower of the two. */
static int direct(const survey *s, int level, int which, probe_result *result) {
    const rank_pair *pair = &s->rows[level].pairs[which];
    int task[] = {level, which};
    int code = MPI_Send(task, 2, MPI_INT, pair->high, TAG_GO, s->comm);
    if (code == MPI_SUCCESS && pair->low == 0)
        return take_part(s, pair, result);
    if (code == MPI_SUCCESS)
        code = MPI_Send(task, 2, MPI_INT, pair->low, TAG_GO, s->comm);
    MPI_Request request;
    if (code == MPI_SUCCESS)
        code = MPI_Irecv(result, (int)sizeof *result, MPI_BYTE, pair->low, TAG_RESULT, s->comm,
                         &request);
    return code == MPI_SUCCESS ? wait_asleep(&request) : code;
}

static int direct_all(survey *s) {
    bool terminal = isatty(STDERR_FILENO);
    int code = MPI_SUCCESS;
    for (int level = 0; level < COLL_LEVELS; level++)
        for (int i = 0; i < s->rows[level].count && code == MPI_SUCCESS; i++) {
            if (terminal)
                fprintf(stderr, "\r\033[K%s: pair %d of %d ", COLL_Level_name(level), i + 1,
                        s->rows[level].count);
            probe_result result = {.streams = 0};
            code = direct(s, level, i, &result);
            if (code == MPI_SUCCESS)
                add_result(&s->rows[level], i, &result);
        }
    if (terminal)
        fputs("\r\033[K", stderr);
    int end[] = {COLL_LEVELS, 0};
    for (int rank = 1; rank < s->ranks && code == MPI_SUCCESS; rank++)
        code = MPI_Send(end, 2, MPI_INT, rank, TAG_GO, s->comm);
    return code;
}

/* The other ranks: measure when told to. */
static int follow(const survey *s) {
    for (;;) {
        int task[2];
        MPI_Request request;
        int code = MPI_Irecv(task, 2, MPI_INT, 0, TAG_GO, s->comm, &request);
        if (code == MPI_SUCCESS)
            code = wait_asleep(&request);
        if (code != MPI_SUCCESS || task[0] == COLL_LEVELS)
            return code;
        probe_result result = {.streams = 0};
        code = take_part(s, &s->rows[task[0]].pairs[task[1]], &result);
        if (code != MPI_SUCCESS)
            return code;
    }
}

/* Chooses the pairs; the same on all ranks. */
static bool plan(survey *s, double seconds) {
    COLL_Place *places = malloc((size_t)s->ranks * sizeof *places);
    if (!places)
        return cli_refuse(&problem, "out of memory for %d places", s->ranks);
    int code = COLL_Places(s->comm, places);
    int total = 0;
    for (int level = 0; level < COLL_LEVELS && code == MPI_SUCCESS; level++) {
        level_row *row = &s->rows[level];
        row->count = pairs_choose(places, s->ranks, (COLL_Level)level, MOST_PAIRS, row->pairs);
        if (row->count < 0)
            code = MPI_ERR_NO_MEM;
        total += row->count;
    }
    free(places);
    if (code != MPI_SUCCESS)
        return cli_refuse_code(&problem, code);
    if (!total)
        return cli_refuse(&problem, "one rank has nobody to measure against; start it by mpirun "
                                    "with a rank on every host");
    s->seconds = seconds / total;
    return true;
}

/* Works out a level's costs; false where there are none or they are too noisy. */
static bool reckon(level_row *row, double noise, COLL_Cost *cost) {
    if (!row->count)
        return false;
    stats_sort(row->latency, row->count);
    stats_sort(row->overhead, row->count);
    stats_sort(row->per_byte, row->streams);
    *cost = (COLL_Cost){.latency = stats_quantile(row->latency, row->count, 0.5),
                        .overhead = stats_quantile(row->overhead, row->count, 0.5),
                        .per_byte = stats_quantile(row->per_byte, row->streams, 0.5)};
    row->spread = (stats_quantile(row->per_byte, row->streams, 0.75) -
                   stats_quantile(row->per_byte, row->streams, 0.25)) /
                  cost->per_byte;
    row->noisy = !(row->spread <= noise);
    return !row->noisy;
}

static void print_row(const level_row *row, int level, const COLL_Cost *cost, FILE *json) {
    double rate = 1e-6 / cost->per_byte;
    printf("%-6s %6d %12.2f %12.2f %10.2f %8.3f%s\n", COLL_Level_name(level), row->count,
           cost->latency * 1e6, cost->overhead * 1e6, rate, row->spread,
           row->noisy ? "  too noisy: left out" : "");
    cli_json line;
    cli_json_begin(&line, json);
    cli_json_text(&line, "level", COLL_Level_name(level));
    cli_json_integer(&line, "pairs", row->count);
    cli_json_number(&line, "latency_us", cost->latency * 1e6);
    cli_json_number(&line, "overhead_us", cost->overhead * 1e6);
    cli_json_number(&line, "MBps", rate);
    cli_json_number(&line, "spread", row->spread);
    cli_json_integer(&line, "kept", !row->noisy);
    cli_json_end(&line);
}

static bool print_table(const command *options, const survey *s, const COLL_Cost cost[],
                        FILE *json) {
    printf("# %d ranks; between ranks apart at each level\n%-6s %6s %12s %12s %10s %8s\n", s->ranks,
           "level", "pairs", "latency_us", "overhead_us", "MB/s", "spread");
    for (int level = 0; level < COLL_LEVELS; level++)
        if (s->rows[level].count)
            print_row(&s->rows[level], level, &cost[level], json);
    printf("# written to %s\n", options->output);
    return fflush(stdout) == 0 || cli_refuse(&problem, "stdout: %s", strerror(errno));
}

/* Rank 0: the table and the profile. */
static bool report(const command *options, survey *s, FILE *json) {
    COLL_Cost cost[COLL_LEVELS] = {{.latency = 0}};
    int measured[COLL_LEVELS], levels = 0;
    for (int level = 0; level < COLL_LEVELS; level++) {
        measured[level] = reckon(&s->rows[level], options->noise, &cost[level]);
        levels += measured[level];
    }
    if (!levels)
        return cli_refuse(&problem, "every level is too noisy; see what else uses the machines, or "
                                    "raise --seconds or --noise; nothing is written");
    int code = COLL_Profile_write(options->output, s->comm, cost, measured, NULL);
    if (code != MPI_SUCCESS)
        return cli_refuse_code(&problem, code);
    return print_table(options, s, cost, json);
}

static void agree(MPI_Comm comm) {
    cli_agree(comm, program, *problem.text ? problem.text : NULL);
}

static void measure(const command *options, survey *s) {
    FILE *json = NULL;
    if (s->rank == 0 && check_output(options->output) && options->json &&
        !(json = fopen(options->json, "w")))
        cli_refuse(&problem, "%s: can't be written: %s", options->json, strerror(errno));
    agree(s->comm);
    plan(s, options->seconds);
    agree(s->comm);

    give_up(s, s->rank == 0 ? direct_all(s) : follow(s));
    if (s->rank == 0)
        report(options, s, json);
    if (json) {
        bool bad = ferror(json) != 0;
        if (fclose(json) || bad)
            cli_refuse(&problem, "%s: can't be written: %s", options->json, strerror(errno));
    }
    agree(s->comm);
}

int main(int argc, char **argv) {
    command options = {.seconds = 15, .noise = 0.5};
    survey s = {.comm = MPI_COMM_NULL};
    parse(argc, argv, &options);
    if (!*problem.text && options.help)
        return fputs(help, stdout) < 0;
    if (!*problem.text && options.version)
        return printf("%s (libcoll) %s\n", program, COLL_Version()) < 0;
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS)
        return EXIT_FAILURE;
    agree(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &s.comm);
    MPI_Comm_set_errhandler(s.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(s.comm, &s.rank);
    MPI_Comm_size(s.comm, &s.ranks);
    measure(&options, &s);
    MPI_Comm_free(&s.comm);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
