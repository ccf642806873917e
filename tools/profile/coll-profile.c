/*
 * coll-profile: options; survey.h measures, model.h works the parameters out, trial.h tries the
 * algorithms, sheet.h shows it all.
 */
#include "config.h"

#include "app/cli.h"
#include "app/files.h"
#include "app/gnuplot.h"
#include "app/path.h"
#include "tools/profile/model.h"
#include "tools/profile/profile-dcp.h"
#include "tools/profile/sheet.h"
#include "tools/profile/survey.h"
#include "tools/profile/trial.h"

#include <coll.h>
#include <coll_tools.h>

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char program[] = "coll-profile";

static const char help[] =
    "usage: mpirun -n RANKS coll-profile --output FILE [OPTION...]\n"
    "       mpirun -n RANKS coll-profile --dcp [OPTION...]   (see coll-profile --dcp --help)\n"
    "\n"
    "Measures what messages cost at each level at which the ranks are apart (NUMA domain, node,\n"
    "rack, site, wide area), as functions of their size: the parameters of Tam and Wang's model.\n"
    "Then tries libcoll's broadcasts and gathers of 192 bytes to 48 KB themselves. Writes a\n"
    "profile for the library to choose algorithms by.\n"
    "\n"
    "  --output FILE  the profile; name it by COLL_PROFILE, or put it where the library looks:\n"
    "                 ~/.config/libcoll/profile or /etc/libcoll/profile\n"
    "  --seconds S    how long to measure messages, in all (default 40); slow links take longer\n"
    "  --trials S     how long to try algorithms, in all (default 60); 0: not at all\n"
    "  --noise R      leave a parameter out, and keep the built-in one, where a usual round takes\n"
    "                 more than R times longer than the best one (default 0.5)\n"
    "  --no-flood     don't look for the switches' buffer, which takes bursts of datagrams, at\n"
    "                 first of 16 KB, until some are lost, at most 0.2 s long\n"
    "  --plot FILE    draw what was measured and what was fitted (PNG; needs gnuplot)\n"
    "  --json FILE    write the table as JSON too, an object on each line\n"
    "  --help, --version\n"
    "\n"
    "Racks and sites come from COLL_TOPOLOGY. Nothing else should use the network meanwhile.\n";

typedef struct command {
    const char *output, *plot, *json;
    double seconds, trials, noise;
    bool flood, help, version;
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
    case 't':
        return cli_take_number(&problem, "trials", text, 0, 3600, &options->trials);
    case 'n':
        return (cli_parse_number(text, &options->noise) && options->noise > 0 &&
                options->noise <= 1e9) ||
               cli_refuse(&problem, "--noise %s: a number above 0, to 1e9, is needed", text);
    case 'f':
        options->flood = false;
        return true;
    case 'p':
        options->plot = text;
        return true;
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
        {"output", required_argument, NULL, 'o'}, {"seconds", required_argument, NULL, 's'},
        {"trials", required_argument, NULL, 't'}, {"noise", required_argument, NULL, 'n'},
        {"no-flood", no_argument, NULL, 'f'},     {"plot", required_argument, NULL, 'p'},
        {"json", required_argument, NULL, 'j'},   {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},      {NULL, 0, NULL, 0}};
    int option;
    while ((option = cli_next_option(&problem, "coll-profile", argc, argv, long_options)) >= 0)
        if (!take_option(option, optarg, options))
            return false;
    if (option == CLI_REFUSED)
        return false;
    if (optind < argc)
        return cli_refuse(&problem, "unexpected argument %s; see coll-profile --help",
                          argv[optind]);
    if (!options->output && !options->help && !options->version)
        return cli_refuse(&problem, "--output FILE is missing");
    return true;
}

/*
 * What can be known before minutes go into measuring. The profile must be a file: trials read it.
 */
static bool check_files(const command *options) {
    const file_use files[] = {{FILE_WRITTEN, "--output", &options->output, 1, NULL},
                              {FILE_WRITTEN, "--plot", &options->plot, 1, NULL},
                              {FILE_WRITTEN, "--json", &options->json, 1, NULL}};
    struct stat status;
    if (stat(options->output, &status) == 0 && !S_ISREG(status.st_mode))
        return cli_refuse(&problem, "%s: can't be written: it is no regular file", options->output);
    return files_check(files, 3, &problem) && (!options->plot || gnuplot_check(&problem));
}

static void show_progress(const char *what) {
    fprintf(stderr, "\r\033[K%s ", what);
    fflush(stderr);
}

/* What is known of the machine, without what trials show. */
static bool make_profile(const survey *s, const model *m, COLL_Profile *profile) {
    int levels = 0;
    for (int level = 0; level < COLL_LEVELS; level++) {
        profile->cost[level] = m->level[level].cost;
        profile->measured[level] = s->level[level].pairs && !m->level[level].noisy;
        levels += profile->measured[level];
    }
    for (int i = 0; i < COLL_COPIES; i++)
        profile->copy[i] = m->copy[i].fitted;
    return levels || cli_refuse(&problem, "every level is too noisy; see what else uses the "
                                          "machines, or raise --seconds or --noise; nothing is "
                                          "written");
}

static bool write_profile(const command *options, const survey *s, const COLL_Profile *profile) {
    char *target = path_follow(options->output); /* a link stays one */
    if (!target)
        return cli_refuse(&problem, "%s: can't be written: %s", options->output, strerror(errno));
    int code = COLL_Profile_write(target, s->comm, profile);
    free(target);
    return code == MPI_SUCCESS || cli_refuse_code(&problem, code);
}

/* Rank 0: the model's part of the profile, the table and the picture. */
static bool report_model(const command *options, const survey *s, COLL_Profile *profile,
                         FILE *json) {
    static model m;
    model_make(s, options->noise, &m);
    if (!make_profile(s, &m, profile) || !write_profile(options, s, profile))
        return false;
    sheet_print(s, &m, json);
    return !options->plot || sheet_plot(s, &m, options->plot, &problem);
}

/* Rank 0: the profile once more, with what the trials showed. */
static bool report_trials(const command *options, const survey *s, const COLL_Profile *profile,
                          FILE *json) {
    if (profile->trials && !write_profile(options, s, profile))
        return false;
    sheet_print_trials(profile, json);
    printf("# written to %s\n", options->output);
    return fflush(stdout) == 0 || cli_refuse(&problem, "stdout: %s", strerror(errno));
}

static void agree(MPI_Comm comm) {
    cli_agree(comm, program, problem.text);
}

static bool plan(survey *s) {
    int pairs, code = survey_plan(s, &pairs);
    if (code != MPI_SUCCESS)
        return cli_refuse_code(&problem, code);
    return pairs || cli_refuse(&problem, "one rank has nobody to measure against; start it by "
                                         "mpirun with a rank on every host");
}

/* A step that all ranks take part in. An error may be one rank's alone, while others wait for it.
 */
static void finish(const survey *s, int code) {
    if (s->rank == 0 && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    if (code == MPI_SUCCESS)
        return;
    cli_refuse_code(&problem, code);
    cli_abort(s->comm, program, "%s", problem.text);
}

/* The model's word that goes with them is that of the profile just written. */
static void run_trials(const command *options, survey *s, COLL_Profile *profile,
                       void (*progress)(const char *what)) {
    if (s->rank == 0 && setenv("COLL_PROFILE", options->output, 1) != 0)
        cli_refuse(&problem, "out of memory");
    agree(s->comm);
    finish(s, trial_run(s->comm, s->places, options->trials, profile->trial, &profile->trials,
                        progress));
}

static void measure(const command *options, survey *s) {
    static COLL_Profile profile;
    void (*progress)(const char *) = isatty(STDERR_FILENO) ? show_progress : NULL;
    struct output json = {0};
    if (s->rank == 0 && check_files(options))
        output_open(&json, options->json, &problem);
    agree(s->comm);
    plan(s);
    agree(s->comm);
    finish(s, survey_run(s, progress));
    if (s->rank == 0)
        report_model(options, s, &profile, json.file);
    agree(s->comm);
    if (options->trials > 0)
        run_trials(options, s, &profile, progress);
    if (s->rank == 0 && report_trials(options, s, &profile, json.file))
        output_commit(&json, &problem);
    agree(s->comm);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--dcp") == 0)
        return profile_dcp_main(argc, argv);
    static survey s;
    command options = {.seconds = 40, .trials = 60, .noise = 0.5, .flood = true};
    parse(argc, argv, &options);
    if (!*problem.text && options.help)
        return fputs(help, stdout) < 0;
    if (!*problem.text && options.version)
        return printf("%s (libcoll) %s\n", program, COLL_Version()) < 0;
    s.comm = cli_begin(&argc, &argv, program, problem.text);
    s.seconds = options.seconds;
    s.flood = options.flood;
    MPI_Comm_rank(s.comm, &s.rank);
    MPI_Comm_size(s.comm, &s.ranks);
    measure(&options, &s);
    survey_free(&s);
    return cli_end(&s.comm);
}
