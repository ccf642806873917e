/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/commands.h"

#include "app/agreement.h"
#include "app/files.h"
#include "app/json.h"
#include "app/options.h"
#include "app/output.h"
#include "tools/profile/benefit.h"

#include <stdio.h>
#include <string.h>

static const char program[] = "coll-info";

static const char usage[] =
    "usage: coll-info explain dcp TRACE [OPTION...]\n"
    "\n"
    "Says whether dedicated collective processors (DCPs) would pay for a program, from where\n"
    "its time goes without them. TRACE is what the program wrote to stderr when run as\n"
    "    COLL_TRACE=1 coll-run -n RANKS -- PROGRAM 2> TRACE\n"
    "(- for standard input). If one in r + 1 of the same ranks becomes a DCP, the computation\n"
    "time, Tcomp, grows by 1/r if each rank has a processor of its own. Of the time in\n"
    "collectives that DCPs serve, blocking ones, Tserved, keep a share (0.7 in the paper's\n"
    "measurements), and nonblocking ones, Tstarted, keep nothing if the program computes long\n"
    "enough:\n"
    "    (1 + 1/r) Tcomp + share Tserved + (Tcoll - Tserved - Tstarted) + Tpoint\n"
    "If ranks share processors, each has the part p = Tcpu / Tcomp of one. Fewer ranks then have\n"
    "larger parts, and Tcomp grows less or not at all. DCPs then save only p times what the\n"
    "paper measured; for blocking collectives p^2 times, because a rank then also waits until its\n"
    "DCP gets the processor.\n";

/* Maximum number of application ranks per DCP. */
enum { MOST_SERVED = 64 };

typedef struct command {
    app_words traces;
    const char *trace, *json;
    double share;
} command;

static app_problem problem;

static bool parse_options(int argc, char **argv, command *options) {
    const app_option table[] = {
        {.operands = &options->traces},
        {"share", "S",
         "the share of blocking collectives' time that remains with DCPs, 0 to 1; coll-bench dcp "
         "measures it: dcp compared with blocking, without computation (default, from the paper: "
         "1 - 0.3 p^2)",
         .number = &options->share, .most = 1},
        APP_JSON_OPTION(&options->json),
    };
    const app_command line = {"coll-info explain dcp", usage, NULL, APP_TABLE(table)};
    if (!app_parse(&line, argc, argv, &problem))
        return false;
    if (options->traces.count != 1)
        return app_refuse(&problem, "explain dcp needs one file with a trace, or -");
    options->trace = options->traces.words[0];
    return true;
}

/* A program's times, and the shares of them that remain with DCPs. */
typedef struct outlook {
    benefit_times times;
    benefit_shares shares;
} outlook;

/*
 * Returns the outlook of the same program if it overlapped all collectives that DCPs serve with
 * computation.
 */
static outlook assume_overlap(const outlook *as_it_is) {
    double hidden = as_it_is->shares.started;
    return (outlook){benefit_overlapping(&as_it_is->times), {hidden, hidden}};
}

static void print_row(const outlook *as_it_is, const outlook *overlapping, int served, FILE *json) {
    const benefit_times *times = &as_it_is->times;
    double now = benefit_total(times);
    double with = benefit_predict(times, served, as_it_is->shares);
    double overlapped = benefit_predict(&overlapping->times, served, overlapping->shares);
    printf("1:%-6d %12.6f %12.6f %12.6f %9.2f %9.2f\n", served, now, with, overlapped,
           with > 0 ? now / with : 1, overlapped > 0 ? now / overlapped : 1);
    app_json(json, app_json_integer("served", served), app_json_number("now_s", now),
             app_json_number("with_s", with), app_json_number("overlapped_s", overlapped));
}

static void print_verdict(const char *how, const outlook *of) {
    int least = benefit_least_served(&of->times, of->shares, MOST_SERVED);
    if (least)
        printf("# %s: DCPs pay from 1:%d on\n", how, least);
    else
        printf("# %s: DCPs don't pay, up to 1:%d\n", how, MOST_SERVED);
}

static bool print_table(const command *options, const benefit_times *times, int ranks) {
    app_output json;
    const char *trace = strcmp(options->trace, "-") == 0 ? "/dev/stdin" : options->trace;
    const app_file_use files[] = {{APP_FILE_WRITTEN, "--json", &options->json, 1, NULL},
                                  {APP_FILE_READ, "TRACE", &trace, 1, NULL}};
    if (!app_files_check(files, 2, &problem) || !app_output_open(&json, options->json, &problem))
        return false;
    benefit_shares shares = benefit_by_paper(times);
    if (options->share >= 0)
        shares.blocking = options->share;
    const outlook as_it_is = {*times, shares}, overlapping = assume_overlap(&as_it_is);
    printf("# %d ranks; on average Tcomp %.6f s, Tcoll %.6f s, Tpoint %.6f s\n", ranks,
           times->computation, times->collectives, times->point_to_point);
    printf("# DCPs leave %.2f of blocking collectives, %.2f of others\n", shares.blocking,
           shares.started);
    printf("# of Tcomp %.6f s by the processor; of Tcoll %.6f s in what DCPs serve, Tserved %.6f s "
           "and Tstarted %.6f s\n",
           times->processor, times->served + times->started, times->served, times->started);
    printf("%-8s %12s %12s %12s %9s %9s\n", "dcp", "now_s", "with_s", "overlap_s", "speedup",
           "overlap");
    for (int served = 1; served <= MOST_SERVED; served *= 2)
        print_row(&as_it_is, &overlapping, served, json.file);
    print_verdict("as it is", &as_it_is);
    print_verdict("if it overlapped all that they serve", &overlapping);
    return app_output_flush_stdout(&problem) && app_output_commit(&json, &problem);
}

/* The main function of coll-info explain dcp; rank 0 reads and prints. */
int explain_dcp_main(int argc, char **argv) {
    command options = {.share = -1};
    benefit_times times;
    int ranks;
    parse_options(argc, argv, &options);
    MPI_Comm comm = app_begin(&argc, &argv, program, &problem);
    if (app_rank(comm) == 0 && benefit_read_trace(options.trace, &times, &ranks, &problem))
        print_table(&options, &times, ranks);
    app_words_free(&options.traces);
    app_agree_or_end(comm, program, &problem);
    return app_end(&comm);
}
