/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/commands.h"

#include "app/agreement.h"
#include "app/options.h"
#include "app/output.h"
#include "tools/info/call_svg.h"

#include <coll.h>
#include <coll_tools.h>

#include <limits.h>

static const char program[] = "coll-info";

static const char usage[] =
    "usage: [mpirun -n RANKS] coll-info draw OPERATION SIZE --output FILE.svg [OPTION...]\n"
    "\n"
    "Draws the course of OPERATION (bcast, gather) with SIZE bytes (64K, 16M, 1G) according to\n"
    "the costs of the profile: a line for each rank, time to the right, an arrow for each\n"
    "message, and the bytes over each rack's uplink.\n";

typedef struct command {
    app_words words;
    const char *operation, *algorithm, *output;
    uint64_t bytes;
    int ranks, racks, root;
} command;

static app_problem problem;

static bool parse_options(int argc, char **argv, command *options) {
    const app_option table[] = {
        {.operands = &options->words, .most = 2},
        {"output", "FILE.svg", "the picture", .text = &options->output, .required = true},
        {"algorithm", "SPEC",
         "the algorithm, optionally with parameters: chain:segment=32K (default: the one that "
         "would run)",
         .text = &options->algorithm},
        {"ranks", "P", "for P ranks, spread over nodes and racks like those that run now",
         .integer = &options->ranks, .least = 1, .most = 4096},
        {"racks", "N", "spread the ranks over N racks of one site", .integer = &options->racks,
         .least = 1, .most = 4096},
        {"root", "R", "for this root", .integer = &options->root, .most = INT_MAX},
    };
    const app_command line = {"coll-info draw", usage, NULL, APP_TABLE(table)};
    if (!app_parse(&line, argc, argv, &problem))
        return false;
    const char *const *words = options->words.words;
    if (options->words.count != 2)
        return app_refuse(&problem, "draw needs an operation and a size, as in: draw bcast 64K");
    options->operation = words[0];
    return app_take_size(words[1], &options->bytes, &problem);
}

/* Draws the picture, at rank 0. */
static void draw_picture(const command *options, const COLL_Description *d, MPI_Comm comm) {
    enum { EVENTS_MOST = 5000000 };
    const COLL_Question question = {.operation = options->operation,
                                    .bytes = (MPI_Count)options->bytes,
                                    .root = options->root,
                                    .ranks = options->ranks,
                                    .racks = options->racks,
                                    .events = EVENTS_MOST};
    const call_svg_input input = {&question, options->algorithm, d->profile, comm};
    app_output output;
    if (!app_output_open(&output, options->output, &problem))
        return;
    if (call_svg_draw(&input, options->ranks ? options->ranks : d->ranks, output.file, &problem))
        app_output_commit(&output, &problem);
    app_output_discard(&output);
}

int draw_main(int argc, char **argv) {
    command options = {.operation = NULL};
    COLL_Description description;
    parse_options(argc, argv, &options);
    MPI_Comm comm = app_begin(&argc, &argv, program, &problem);
    app_mpi(&problem, COLL_Describe(comm, &description));
    app_agree_or_end(comm, program, &problem);
    if (app_rank(comm) == 0)
        draw_picture(&options, &description, comm);
    app_agree_or_end(comm, program, &problem);
    app_words_free(&options.words);
    return app_end(&comm);
}
