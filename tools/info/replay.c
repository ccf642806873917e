/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-info replay: estimates a recorded job on another cluster. */
#include "config.h"

#include "tools/commands.h"

#include "app/agreement.h"
#include "app/json.h"
#include "app/options.h"
#include "app/output.h"
#include "tools/info/slots.h"

#include <coll.h>
#include <coll_tools.h>

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "coll-info";

static const char usage[] =
    "usage: coll-info replay DIR [OPTION...]\n"
    "\n"
    "Estimates the job that COLL_RECORD=DIR has recorded on another cluster: its time in blocking\n"
    "collectives, with libcoll's choice and with the MPI library's own algorithms. Each rank\n"
    "makes its calls with the recorded time between them, and a call starts when its ranks\n"
    "arrive.\n";

static const char notes[] =
    "Computation and messages between two ranks take as long as recorded. Collectives that are\n"
    "nonblocking, persistent or among neighbours are not estimated. See docs/replay.md.\n";

typedef struct command {
    app_words words;
    const char *json, *hostfile, *goal;
    COLL_Cluster cluster;
} command;

static app_problem problem;

static bool parse_options(int argc, char **argv, command *options) {
    COLL_Cluster *cluster = &options->cluster;
    const app_option table[] = {
        {.operands = &options->words, .most = 1},
        {"hostfile", "FILE",
         "the hosts, as for mpirun: a host on each line, with slots=N (default: the recorded ones)",
         .text = &options->hostfile},
        {"ranks-per-host", "N", "put N ranks on each host, one host after the other",
         .integer = &cluster->ranks_per_host, .least = 1, .most = INT_MAX},
        CLUSTER_TOPOLOGY_OPTION(cluster),
        CLUSTER_PROFILE_OPTION(cluster),
        {"algorithm", "LIST",
         "instead of libcoll's choice: OPERATION=ALGORITHM, separated by ; as in "
         "'allreduce=ring;bcast=chain:segment=32K'",
         .text = &cluster->algorithms},
        {"export-goal", "FILE",
         "write the job with libcoll's plans as GOAL, for LogGOPSim and ATLAHS, instead of the "
         "estimate",
         .text = &options->goal},
        APP_JSON_OPTION(&options->json),
    };
    const app_command line = {"coll-info replay", usage, notes, APP_TABLE(table)};
    if (!app_parse(&line, argc, argv, &problem))
        return false;
    if (options->goal && options->json)
        return app_refuse(&problem, "--export-goal writes no estimate: drop --json");
    return options->words.count == 1 ||
           app_refuse(&problem, "replay needs the directory of a record, as in: replay DIR");
}

static void print_table(const COLL_Replay_row rows[], int count, const COLL_Replay_sum *sum) {
    printf("# %d rank%s on %d host%s in %d rack%s; costs: %s\n", sum->ranks,
           sum->ranks == 1 ? "" : "s", sum->hosts, sum->hosts == 1 ? "" : "s", sum->racks,
           sum->racks == 1 ? "" : "s", sum->profile);
    printf("%-14s %6s %9s %11s %11s %11s  %s\n", "operation", "size", "calls", "recorded_s",
           "libcoll_s", "native_s", "libcoll's algorithm");
    for (const COLL_Replay_row *row = rows; row < rows + count; row++) {
        char size[24];
        app_print_size(row->bytes, size, sizeof size);
        printf("%-14s %6s %9.0f %11.4f %11.4f %11.4f  %s\n", row->operation, size, row->calls,
               row->recorded, row->libcoll, row->native, row->algorithm);
    }
    printf("%-14s %6s %9s %11.4f %11.4f %11.4f\n", "collectives", "", "", sum->collectives[0],
           sum->collectives[1], sum->collectives[2]);
    printf("%-14s %6s %9s %11.4f %11.4f %11.4f\n", "the run", "", "", sum->run[0], sum->run[1],
           sum->run[2]);
    puts("# size: from this to below twice that; times: means of the ranks, waiting for late ranks "
         "included;\n# libcoll and native are estimates. Computation and other messages take as "
         "long as recorded");
    if (sum->skipped > 0)
        printf(
            "# not estimated: %.1f calls per rank, nonblocking, persistent or among neighbours\n",
            sum->skipped / sum->ranks);
}

static void write_json(const COLL_Replay_row rows[], int count, const COLL_Replay_sum *sum,
                       FILE *json) {
    app_json(
        json, app_json_integer("ranks", sum->ranks), app_json_integer("hosts", sum->hosts),
        app_json_integer("racks", sum->racks), app_json_integer("sites", sum->sites),
        app_json_text("profile", sum->profile), app_json_number("recorded_s", sum->collectives[0]),
        app_json_number("libcoll_s", sum->collectives[1]),
        app_json_number("native_s", sum->collectives[2]),
        app_json_number("recorded_run_s", sum->run[0]),
        app_json_number("libcoll_run_s", sum->run[1]), app_json_number("native_run_s", sum->run[2]),
        app_json_number("not_estimated", sum->skipped), app_json_number("sent_bytes", sum->sent));
    for (const COLL_Replay_row *row = rows; row < rows + count; row++)
        app_json(json, app_json_text("operation", row->operation),
                 app_json_integer("from_bytes", (int64_t)row->bytes),
                 app_json_number("calls", row->calls), app_json_text("algorithm", row->algorithm),
                 app_json_number("recorded_s", row->recorded),
                 app_json_number("libcoll_s", row->libcoll),
                 app_json_number("native_s", row->native));
}

static bool replay(const COLL_Record *record, const command *options, FILE *json) {
    COLL_Replay_row *rows = malloc(COLL_REPLAY_ROWS * sizeof *rows);
    COLL_Replay_sum sum;
    int count = 0;
    if (!rows)
        return app_refuse(&problem, "out of memory");
    const bool good = app_mpi(&problem, COLL_Replay(record, &options->cluster, rows, &count, &sum));
    if (good) {
        print_table(rows, count, &sum);
        write_json(rows, count, &sum, json);
    }
    free(rows);
    return good;
}

static void run(command *options) {
    COLL_Record *record = NULL;
    slot_list slots = {.text = NULL};
    app_output output = {.file = NULL}; /* GOAL, or JSON */
    const char *directory = options->words.words[0],
               *path = options->goal ? options->goal : options->json;
    bool good = slots_check_output(options->goal ? "--export-goal" : "--json", path, directory,
                                   options->hostfile, &options->cluster, &problem) &&
                slots_read(options->hostfile, &slots, &options->cluster, &problem) &&
                app_output_open(&output, path, &problem) &&
                app_mpi(&problem, COLL_Record_read(directory, &record));
    if (good && options->goal)
        good = app_mpi(&problem, COLL_Replay_goal(record, &options->cluster, output.file));
    else if (good)
        good = replay(record, options, output.file);
    if (good && app_output_flush_stdout(&problem))
        app_output_commit(&output, &problem);
    app_output_discard(&output);
    COLL_Record_free(record);
    slots_free(&slots);
}

int replay_main(int argc, char **argv) {
    command options = {.words = {0}};
    parse_options(argc, argv, &options);
    MPI_Comm comm = app_begin(&argc, &argv, program, &problem);
    if (app_rank(comm) == 0)
        run(&options);
    app_agree_or_end(comm, program, &problem);
    app_words_free(&options.words);
    return app_end(&comm);
}
