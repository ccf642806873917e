/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program coll-profile: its options and files. survey.h measures, fitted.h fits the parameters,
 * and sheet.h prints and draws them.
 */
#include "config.h"

#include "app/agreement.h"
#include "app/drawer.h"
#include "app/files.h"
#include "app/options.h"
#include "app/output.h"
#include "app/progress.h"
#include "tools/commands.h"
#include "tools/profile/fitted.h"
#include "tools/profile/sheet.h"
#include "tools/profile/survey.h"

#include <coll.h>
#include <coll_tools.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char program[] = "coll-profile";

static const char usage[] =
    "usage: mpirun -n RANKS coll-profile --output FILE [OPTION...]\n"
    "       mpirun -n RANKS coll-profile --dcp [OPTION...]   (see coll-profile --dcp --help)\n"
    "\n"
    "Measures what messages cost at each level at which the ranks are apart (NUMA domain, node,\n"
    "rack, site, wide area), as functions of their size: the parameters of Tam and Wang's model.\n"
    "Writes a profile, by which the library chooses algorithms.\n";

static const char notes[] = "Racks and sites are those that COLL_TOPOLOGY tells, or that libcoll "
                            "finds. Nothing else should\n"
                            "use the network meanwhile.\n";

typedef struct command {
    const char *output, *plot, *json;
    double seconds, noise;
    const char *trials, *operations; /* retired */
    bool no_flood;
} command;

static app_problem problem;

static bool parse_options(int argc, char **argv, command *options) {
    const app_option table[] = {
        {"output", "FILE",
         "the profile; name it in COLL_PROFILE, or put it where the library looks: "
         "~/.config/libcoll/profile or /etc/libcoll/profile",
         .text = &options->output, .required = true},
        {"seconds", "S", "how long to measure messages, in all; slow links take longer",
         .number = &options->seconds, .most = 3600, .above = true},
        {"noise", "R",
         "drop a parameter, and keep the built-in one, where a typical round takes more than R "
         "times longer than the best one",
         .number = &options->noise, .most = 1e9, .above = true},
        {"no-flood", NULL,
         "don't look for the size of the switches' buffer; it takes bursts of datagrams, at first "
         "of 16 KB, until some are lost, at most 0.5 s long",
         .flag = &options->no_flood},
        {"plot", "FILE", "draw what was measured and what was fitted (PNG; needs gnuplot)",
         .text = &options->plot},
        APP_JSON_OPTION(&options->json),
        APP_PROGRESS_OPTION,
        {"trials", "S", NULL, .text = &options->trials},
        {"operations", "LIST", NULL, .text = &options->operations},
    };
    const app_command line = {program, usage, notes, APP_TABLE(table)};
    return app_parse(&line, argc, argv, &problem);
}

/* Checks before the measurements that all files can be written. */
static bool check_files(const command *options) {
    const app_file_use files[] = {{APP_FILE_WRITTEN, "--output", &options->output, 1, NULL},
                                  {APP_FILE_WRITTEN, "--plot", &options->plot, 1, NULL},
                                  {APP_FILE_WRITTEN, "--json", &options->json, 1, NULL}};
    struct stat status;
    if (stat(options->output, &status) == 0 && !S_ISREG(status.st_mode))
        return app_refuse(&problem, "%s: can't be written: it is no regular file", options->output);
    return app_files_check(files, 3, &problem) &&
           (!options->plot || app_drawer_check(&app_gnuplot, options->plot, &problem));
}

/* Sets PROFILE. Levels that were not measured, or were too noisy, are marked as not measured.
 * Returns false if no level is left. */
static bool make_profile(const model *m, COLL_Profile *profile) {
    int levels = 0;
    for (int level = 0; level < COLL_LEVELS; level++) {
        profile->cost[level] = m->level[level].cost;
        profile->measured[level] = m->survey->level[level].pairs && !m->level[level].noisy;
        levels += profile->measured[level];
    }
    for (int i = 0; i < COLL_COPIES; i++)
        profile->copy[i] = m->copy[i].fitted;
    return levels || app_refuse(&problem, "every level is too noisy; see what else uses the "
                                          "machines, or raise --seconds or --noise; nothing is "
                                          "written");
}

static bool write_profile(const command *options, const survey *s, const COLL_Profile *profile) {
    char *target = app_path_follow(options->output); /* so that a symbolic link is kept */
    if (!target)
        return app_refuse(&problem, "%s: can't be written: %s", options->output, strerror(errno));
    int code = COLL_Profile_write(target, s->comm, profile);
    free(target);
    return app_mpi(&problem, code);
}

/* Writes the profile, the table and the picture. Called on rank 0 only. */
static bool write_results(const command *options, const survey *s, COLL_Profile *profile,
                          FILE *json) {
    static model m;
    model_make(s, options->noise, &m);
    if (!make_profile(&m, profile) || !write_profile(options, s, profile))
        return false;
    sheet_print(&m, json);
    if (options->plot && !sheet_plot(&m, options->plot, &problem))
        return false;
    printf("# written to %s\n", options->output);
    return app_output_flush_stdout(&problem);
}

static void agree_or_end(MPI_Comm comm) {
    app_agree_or_end(comm, program, &problem);
}

static bool plan_measurements(survey *s) {
    int pairs, code = survey_plan(s, &pairs);
    if (code != MPI_SUCCESS)
        return app_mpi(&problem, code);
    return pairs || app_refuse(&problem, "one rank has nobody to measure against; start it by "
                                         "mpirun with a rank on every host");
}

/*
 * Ends a step of all ranks that returned CODE. An error aborts the job, since it may have occurred
 * on one rank only, for which the other ranks wait.
 */
static void finish_step(int code) {
    app_progress_hide();
    if (code == MPI_SUCCESS)
        return;
    app_mpi(&problem, code);
    app_abort(program, "%s", problem.text);
}

/* Warns of options that no longer have an effect. */
static void warn_of_retired_options(const command *options) {
    if (options->trials || options->operations)
        fprintf(stderr,
                "%s: --trials and --operations do nothing: jobs find out while they run which "
                "algorithms are fast (COLL_LEARN)\n",
                program);
}

static void measure_and_report(const command *options, survey *s) {
    static COLL_Profile profile;
    app_output json = {0};
    if (s->rank == 0)
        warn_of_retired_options(options);
    if (s->rank == 0 && check_files(options))
        app_output_open(&json, options->json, &problem);
    agree_or_end(s->comm);
    plan_measurements(s);
    agree_or_end(s->comm);
    app_progress_expect(options->seconds);
    finish_step(survey_run(s));
    if (s->rank == 0 && write_results(options, s, &profile, json.file))
        app_output_commit(&json, &problem);
    agree_or_end(s->comm);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--dcp") == 0)
        return profile_dcp_main(argc - 1, argv + 1);
    static survey s;
    command options = {.seconds = 40, .noise = 0.5};
    parse_options(argc, argv, &options);
    s.comm = app_begin(&argc, &argv, program, &problem);
    s.seconds = options.seconds;
    s.flood = !options.no_flood;
    s.rank = app_rank(s.comm);
    s.ranks = app_ranks(s.comm);
    measure_and_report(&options, &s);
    survey_free(&s);
    return app_end(&s.comm);
}
