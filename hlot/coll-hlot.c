/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll-hlot: measures latencies between sites and shows the trees made from them. This file handles
 * the options; hlot_report.c prints.
 */
#include "config.h"

#include "app/agreement.h"
#include "app/files.h"
#include "app/json.h"
#include "app/options.h"
#include "app/output.h"
#include "hlot/hlot_report.h"
#include "hlot/latency_monitor.h"
#include "hlot/levels.h"
#include "hlot/tree.h"

#include <coll.h>
#include <coll_tools.h>

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program[] = "coll-hlot";

static const char usage[] =
    "usage: mpirun -n RANKS coll-hlot probe|show|draw|compare|watch [OPTION...]\n"
    "       coll-hlot show|draw|compare MATRIX [OPTION...]\n"
    "       coll-hlot study [--sites N] [--networks N] [--seed N] [--bytes SIZE]\n"
    "\n"
    "Measures and shows the latencies between sites, and broadcast trees made from them.\n"
    "\n"
    "  probe    measure, and write the matrix, which serves as MATRIX and COLL_LATENCIES\n"
    "  show     the matrix, the levels, and the tree with the time at which each site has the "
    "data\n"
    "  draw     the tree as a picture, by graphviz\n"
    "  compare  the predicted times of all kinds of trees\n"
    "  watch    the same as show, updated every second\n"
    "  study    how good each kind of tree is over many random networks, compared with\n"
    "           the best of all trees (of up to 8 sites; with more, with the best kind)\n"
    "\n"
    "MATRIX is a file of latencies (coll-hlot(1) describes it), - for standard input. Without\n"
    "MATRIX, latencies are measured between the sites of the ranks, which COLL_TOPOLOGY sets.\n";

typedef struct command {
    app_words words;
    const char *verb, *matrix, *root, *output, *json;
    int kind; /* a hlot_kind */
    uint64_t bytes;
    double seconds;            /* negative for the verb's default */
    int sites, networks, seed; /* options of study; 0 if not given */
} command;

static app_problem problem;

static bool has_verb(const command *options, const char *verb) {
    return strcmp(options->verb, verb) == 0;
}

/* Refuses options that have no meaning with the verb. */
static bool check_options(const command *options) {
    if (!has_verb(options, "study") && (options->sites || options->networks || options->seed))
        return app_refuse(&problem, "--sites, --networks and --seed belong to study");
    if (has_verb(options, "study") && (options->root || options->seconds >= 0 || options->matrix))
        return app_refuse(&problem, "study takes no MATRIX, and neither --root nor --seconds");
    if (options->output && !has_verb(options, "probe") && !has_verb(options, "draw"))
        return app_refuse(&problem, "--output belongs to probe and draw");
    if (options->seconds >= 0 && options->matrix)
        return app_refuse(&problem,
                          "--seconds belongs to measuring, but with MATRIX nothing is measured");
    return true;
}

static bool parse_words(command *options) {
    static const char *const verbs[] = {"probe", "show", "draw", "compare", "watch", "study"};
    static const char known[] = "probe, show, draw, compare, watch, study";
    const char *const *words = options->words.words;
    if (!options->words.count)
        return app_refuse(&problem, "no command; known: %s", known);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(words[0], verbs[i]) == 0)
            options->verb = verbs[i];
    if (!options->verb)
        return app_refuse(&problem, "unknown command %s; known: %s", words[0], known);
    options->matrix = options->words.count == 2 ? words[1] : NULL;
    if (options->matrix && (has_verb(options, "probe") || has_verb(options, "watch")))
        return app_refuse(&problem, "%s measures; it takes no matrix", options->verb);
    if (has_verb(options, "draw") && !options->output)
        return app_refuse(&problem, "draw needs --output FILE.svg or FILE.png");
    return check_options(options);
}

static bool parse_options(int argc, char **argv, command *options) {
    const app_option table[] = {
        {.operands = &options->words, .most = 2},
        {"root", "SITE", "root, by name or number (default: the first)", .text = &options->root},
        {"tree", "KIND", "kind of tree:", .choice = &options->kind, .nth = hlot_kind_name},
        {"bytes", "SIZE",
         "also count sends and bytes, by the cost model (default: latencies alone)",
         .size = &options->bytes, .least = 1},
        {"output", "FILE", "the file that probe or draw writes", .text = &options->output},
        {"seconds", "S", "how long to measure (default 2; watch: until it is stopped)",
         .number = &options->seconds, .most = 1e9},
        {"sites", "N", "sites of each network that study makes (default 8)",
         .integer = &options->sites, .least = 2, .most = HLOT_SITES},
        {"networks", "N", "number of networks that study makes (default 100)",
         .integer = &options->networks, .least = 1, .most = 1 << 20},
        {"seed", "N", "another seed makes other networks (default 1)", .integer = &options->seed,
         .least = 1, .most = INT_MAX},
        APP_JSON_OPTION(&options->json),
    };
    const app_command line = {program, usage, NULL, APP_TABLE(table)};
    return app_parse(&line, argc, argv, &problem) && parse_words(options);
}

/* Returns the number of the root, which is given by its name or number, or -1 with a problem. */
static int find_root(const command *options, const hlot_matrix *matrix) {
    int64_t number;
    if (!options->root)
        return 0;
    int site = hlot_matrix_find(matrix, options->root);
    if (site >= 0)
        return site;
    if (app_parse_integer(options->root, 0, matrix->sites - 1, &number))
        return (int)number;
    app_refuse(&problem, "--root %s: no such site; there are %d, the first is %s", options->root,
               matrix->sites, matrix->names[0]);
    return -1;
}

/* Checks that every site can be reached from ROOT. The error names the sites that can't be
 * reached. */
static bool check_reach(const hlot_matrix *matrix, const hlot_network *network, int root) {
    bool lost[HLOT_SITES];
    char names[200] = "";
    if (!hlot_unreachable(network, root, lost))
        return true;
    for (int site = 0; site < matrix->sites; site++) {
        size_t used = strlen(names);
        if (lost[site])
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                     matrix->names[site]);
    }
    return app_refuse(&problem, "there is no path from %s to %s", matrix->names[root], names);
}

static void write_title(const command *options, const hlot_network *network,
                        const hlot_matrix *matrix, int root, double time, char title[200]) {
    snprintf(title, 200, "%s tree from %s: %.4g ms", hlot_kind_name(options->kind),
             matrix->names[root], time * 1e3);
    size_t used = strlen(title);
    if (options->bytes)
        snprintf(title + used, 200 - used, " for %" PRIu64 " bytes in %g segments", options->bytes,
                 network->segments);
}

static void write_arrivals(const hlot_matrix *matrix, const hlot_tree *tree, const double arrival[],
                           FILE *json) {
    for (int i = 0; json && i < tree->sites; i++) {
        int site = tree->order[i], parent = tree->parent[site];
        app_json(json, app_json_text("site", matrix->names[site]),
                 app_json_text("parent", parent < 0 ? "" : matrix->names[parent]),
                 app_json_number("arrival_ms", arrival[site] * 1e3));
    }
}

/* Does the work of show, watch and draw for one matrix. */
static bool show_or_draw(const command *options, const hlot_matrix *matrix,
                         const hlot_network *network, int root, FILE *json) {
    hlot_tree tree;
    int groups[HLOT_SITES];
    double arrival[HLOT_SITES];
    char title[200];
    hlot_levels_group(network, groups);
    if (options->kind == HLOT_PAPER || options->kind == HLOT_PLUS)
        hlot_levels_tree(network, (hlot_kind)options->kind, root, &tree);
    else
        hlot_tree_make(network, (hlot_kind)options->kind, root, &tree);
    double time = hlot_tree_time(network, &tree, arrival);
    write_title(options, network, matrix, root, time, title);
    if (has_verb(options, "draw"))
        return hlot_draw(options->output, &(hlot_drawing){matrix, &tree, arrival, groups, title},
                         &problem);
    hlot_report_matrix(matrix, groups);
    putchar('\n');
    hlot_report_levels(matrix, groups);
    putchar('\n');
    hlot_report_tree(matrix, &tree, arrival, title);
    write_arrivals(matrix, &tree, arrival, json);
    return true;
}

static bool process_matrix(const command *options, const hlot_matrix *matrix, FILE *json) {
    hlot_network network = {.sites = matrix->sites, .segments = 1};
    int root = find_root(options, matrix);
    memcpy(network.latency, matrix->latency, sizeof network.latency);
    if (options->bytes)
        hlot_network_load(&coll_profile_builtin()->level[COLL_LEVEL_WIDE], 0, options->bytes,
                          &network);
    if (root < 0 || !check_reach(matrix, &network, root))
        return false;
    if (!has_verb(options, "compare"))
        return show_or_draw(options, matrix, &network, root, json);
    printf("# %d sites, root %s\n", matrix->sites, matrix->names[root]);
    hlot_report_kinds(&network, root, json);
    return true;
}

/* Writes the measured matrix to a file or to standard output. */
static bool write_matrix(const command *options, const hlot_matrix *matrix) {
    static const char note[] = "by coll-hlot probe: halves of round trips";
    app_output file;
    if (!app_output_open(&file, options->output, &problem))
        return false;
    hlot_matrix_print(file.file ? file.file : stdout, matrix, note);
    bool good = app_output_commit(&file, &problem);
    app_output_discard(&file);
    return good;
}

static bool run_study(const command *options, FILE *json) {
    const int sites = options->sites ? options->sites : HLOT_EXHAUSTED;
    hlot_network load = {.sites = sites, .segments = 1};
    if (options->bytes)
        hlot_network_load(&coll_profile_builtin()->level[COLL_LEVEL_WIDE], 0, options->bytes,
                          &load);
    const hlot_tree_quality_settings asked = {.sites = sites,
                                              .networks =
                                                  options->networks ? options->networks : 100,
                                              .seed = options->seed ? (uint32_t)options->seed : 1,
                                              .gap = load.gap,
                                              .segments = load.segments};
    return hlot_report_study(&asked, json, &problem);
}

/* Processes the matrix of O or, if O is NULL, of the file. */
static bool read_and_process(const command *options, const latency_monitor *o, FILE *json) {
    hlot_matrix matrix;
    char text[COLL_TEXTFILE_PROBLEM];
    if (!o && !hlot_matrix_read(options->matrix, true, &matrix, text))
        return app_refuse(&problem, "%s", text);
    if (!o && matrix.within)
        fprintf(stderr, "%s: latencies from a site to itself are ignored\n", program);
    if (o && !latency_monitor_read(o, &matrix))
        return app_refuse(&problem, "out of memory for the names of hosts");
    bool good = has_verb(options, "probe") ? write_matrix(options, &matrix)
                                           : process_matrix(options, &matrix, json);
    hlot_matrix_free(&matrix);
    return good;
}

/* Does the work of rank 0, after any measurement. */
static void run_on_rank_0(const command *options, const latency_monitor *o) {
    app_output json;
    if (!app_output_open(&json, options->json, &problem))
        return;
    bool good = has_verb(options, "study") ? run_study(options, json.file)
                                           : read_and_process(options, o, json.file);
    if (good && app_output_flush_stdout(&problem))
        app_output_commit(&json, &problem);
    app_output_discard(&json);
}

static bool check_files(const command *options) {
    bool piped = options->matrix && strcmp(options->matrix, "-") == 0;
    const char *matrix = piped ? "/dev/stdin" : options->matrix;
    const app_file_use files[] = {{APP_FILE_WRITTEN, "--output", &options->output, 1, NULL},
                                  {APP_FILE_WRITTEN, "--json", &options->json, 1, NULL},
                                  {APP_FILE_READ, "MATRIX", &matrix, 1, NULL}};
    return app_files_check(files, 3, &problem);
}

static void end_if_problem(MPI_Comm comm) {
    app_agree_or_end(comm, program, &problem);
}

/* Measures for SECONDS. Collective. */
static void measure_for(latency_monitor *o, double seconds) {
    int code = latency_monitor_run(o, seconds);
    app_mpi(&problem, code);
    end_if_problem(o->comm);
}

/* Shows the latest latencies and trees every second. */
static void show_repeatedly(const command *options, latency_monitor *o) {
    static const double every = 1;
    bool terminal = isatty(STDOUT_FILENO);
    for (double done = 0; options->seconds < 0 || done < options->seconds; done += every) {
        measure_for(o, every);
        if (o->rank != 0)
            continue;
        fputs(terminal ? "\033[H\033[2J" : "", stdout);
        run_on_rank_0(options, o);
        int silent = hlot_latency_silent(o->site_state->latency);
        if (silent)
            printf("# %d links are silent; their last latencies are shown\n", silent);
        fputs(terminal ? "# Ctrl-C ends it\n" : "\n", stdout);
        fflush(stdout);
    }
}

static void measure_and_run(const command *options, MPI_Comm comm) {
    latency_monitor o;
    int code = latency_monitor_open(&o, comm);
    app_mpi(&problem, code);
    end_if_problem(comm);
    if (has_verb(options, "watch")) {
        show_repeatedly(options, &o);
        return;
    }
    measure_for(&o, options->seconds < 0 ? 2 : options->seconds);
    if (o.rank == 0)
        run_on_rank_0(options, &o);
}

int main(int argc, char **argv) {
    command options = {.kind = HLOT_PLUS, .seconds = -1};
    parse_options(argc, argv, &options);
    MPI_Comm comm = app_begin(&argc, &argv, program, &problem);
    int rank = app_rank(comm);
    if (rank == 0)
        check_files(&options);
    end_if_problem(comm);
    if (!options.matrix && !has_verb(&options, "study"))
        measure_and_run(&options, comm);
    else if (rank == 0)
        run_on_rank_0(&options, NULL);
    end_if_problem(comm);
    app_words_free(&options.words);
    return app_end(&comm);
}
