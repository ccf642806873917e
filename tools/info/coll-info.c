/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-info: shows what the library found, and what it would choose. */
#include "config.h"

#include "app/agreement.h"
#include "app/json.h"
#include "app/options.h"
#include "app/output.h"
#include "tools/commands.h"

#include <coll.h>
#include <coll_tools.h>

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "coll-info";

static const char usage[] =
    "usage: [mpirun -n RANKS] coll-info [OPTION...]\n"
    "       [mpirun -n RANKS] coll-info explain OPERATION SIZE [OPTION...]\n"
    "       coll-info explain dcp TRACE [OPTION...]   (see coll-info explain dcp --help)\n"
    "       [mpirun -n RANKS] coll-info draw OPERATION SIZE --output FILE.svg [OPTION...]\n"
    "                                                 (see coll-info draw --help)\n"
    "       [mpirun -n RANKS] coll-info doctor        (see coll-info doctor --help)\n"
    "       coll-info replay DIR [OPTION...]          (see coll-info replay --help)\n"
    "       coll-info place DIR --hostfile FILE --output RANKFILE [OPTION...]\n"
    "                                                 (see coll-info place --help)\n"
    "       coll-info algorithms [OPERATION]\n"
    "       coll-info learnt [--forget]               (see coll-info learnt --help)\n"
    "       coll-info settings\n"
    "\n"
    "Shows what the library found: versions, nodes, racks and sites, waiting, profile,\n"
    "algorithms and settings. `explain` lists the algorithms that could run OPERATION (bcast,\n"
    "allreduce, ...) with SIZE bytes (64K, 16M, 1G), the time predicted for each, which one\n"
    "would run, and why. `algorithms` lists them with the bounds and the meaning of their\n"
    "parameters, `settings` every COLL_ variable with its values and its default.\n";

enum { MOST_CANDIDATES = 64 };

typedef struct command {
    app_words words;
    bool algorithms;       /* list the algorithms of OPERATION, or of all operations if it is
                              NULL, with their parameters */
    const char *operation; /* the operation to explain or list; NULL without ALGORITHMS: show what
                              the library found */
    uint64_t bytes;
    int ranks, racks, sites, root; /* RANKS 0: as many as the job has */
    int events;                    /* negative: depends on the number of ranks */
    const char *json;
} command;

static app_problem problem;

static bool parse_words(command *options) {
    const char *const *words = options->words.words;
    size_t count = options->words.count;
    bool lists = count > 0 && strcmp(words[0], "algorithms") == 0;
    if ((count == 0 || lists) && (options->ranks || options->racks || options->sites ||
                                  options->root || options->events >= 0))
        return app_refuse(&problem, "--ranks, --racks, --sites, --root and --events belong to "
                                    "explain OPERATION SIZE");
    if (count == 0)
        return true;
    if (lists) {
        options->algorithms = true;
        options->operation = count > 1 ? words[1] : NULL;
        return count < 3 ||
               app_refuse(&problem, "algorithms takes one operation: drop %s", words[2]);
    }
    if (strcmp(words[0], "settings") == 0)
        return app_refuse(&problem, "settings stands alone; see coll-info --help");
    if (strcmp(words[0], "explain") != 0)
        return app_refuse(
            &problem,
            "unknown command %s; known: explain, draw, doctor, replay, place, algorithms, learnt, "
            "settings",
            words[0]);
    if (count < 3)
        return app_refuse(&problem, "explain needs an operation and a size, as in: explain bcast "
                                    "64M");
    options->operation = words[1];
    return app_take_size(words[2], &options->bytes, &problem);
}

static bool check_sites(const command *options) {
    return !options->sites || (options->racks && options->racks % options->sites == 0) ||
           app_refuse(&problem, "--sites %d: give --racks, too: a multiple of it", options->sites);
}

static bool parse_options(int argc, char **argv, command *options) {
    const app_option table[] = {
        {.operands = &options->words, .most = 3},
        {"ranks", "P", "explain for P ranks, spread over nodes and racks like those that run now",
         .integer = &options->ranks, .least = 1, .most = 1 << 24},
        {"racks", "N", "explain for ranks spread over N racks of one site",
         .integer = &options->racks, .least = 1, .most = 1 << 24},
        {"sites", "N", "explain for racks spread evenly over N sites", .integer = &options->sites,
         .least = 1, .most = 1 << 24},
        {"events", "N",
         "also simulate each plan in at most N events, for a more precise time than a job can "
         "afford; 0: don't (default: 2 million above 4096 ranks, else 0)",
         .integer = &options->events, .most = 1 << 29},
        {"root", "R", "explain for this root", .integer = &options->root, .most = INT_MAX},
        APP_JSON_OPTION(&options->json),
    };
    const app_command line = {program, usage, NULL, APP_TABLE(table)};
    return app_parse(&line, argc, argv, &problem) && parse_words(options) && check_sites(options);
}

static void print_versions(void) {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "unknown MPI library";
    int length;
    MPI_Get_library_version(text, &length);
    printf("libcoll    %s\nMPI        %.*s\n", COLL_Version(), (int)strcspn(text, ",\n"), text);
}

static const char *plural_suffix(int count) {
    return count == 1 ? "" : "s";
}

static void print_machine(const COLL_Description *d) {
    printf("ranks      %d, on %d node%s in %d rack%s of %d site%s; at most %d a node\n", d->ranks,
           d->nodes, plural_suffix(d->nodes), d->racks, plural_suffix(d->racks), d->sites,
           plural_suffix(d->sites), d->most_ranks_per_node);
    printf("cores      %d for the ranks of a node%s\n", d->cores_per_node,
           d->crowded ? "; some node has more processes than cores" : "");
    printf("waiting    %s", d->wait);
    if (strcmp(d->wait, "auto") == 0)
        printf(d->crowded ? ": polite, since cores are shared" : ": polite where cores are shared");
    if (d->timeout > 0)
        printf("; an error after %g s of silence", d->timeout);
    printf("\ntopology   %s\nprofile    %s\n", d->topology ? d->topology : "no file", d->profile);
}

static void print_costs(const COLL_Description *d) {
    printf("\n%-10s %12s %12s %12s %12s %12s  %s\n", "level", "latency_us", "overhead_us", "MB/s",
           "wake_us", "BL_bytes", "source");
    for (int level = 0; level < COLL_LEVELS; level++) {
        const COLL_Cost *cost = &d->cost[level];
        printf("%-10s %12.2f %12.2f %12.2f %12.2f %12.0f  %s\n", COLL_Level_name(level),
               cost->latency * 1e6, cost->overhead * 1e6, 1e-6 / cost->per_byte, cost->wake * 1e6,
               cost->buffer, d->measured[level] ? "measured" : "built-in");
    }
}

/* Prints a line for each node, in the order of the nodes' first ranks. */
static void print_nodes(const COLL_Place places[], int ranks) {
    printf("\n%-24s %6s %6s %6s %6s\n", "host", "node", "rack", "site", "ranks");
    int next = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const COLL_Place *place = &places[rank];
        if (place->node < next)
            continue;
        next = place->node + 1;
        int here = 0;
        for (int other = rank; other < ranks; other++)
            here += places[other].node == place->node;
        printf("%-24s %6d %6d %6d %6d\n", place->host, place->node, place->rack, place->site, here);
    }
}

/* Prints each line of PARAMS, which describes an algorithm's parameters. */
static void print_params(const char *params) {
    for (size_t length; *params; params += length) {
        length = strcspn(params, "\n") + 1;
        printf("%17s%.*s", "", (int)length, params);
    }
}

/* Lists the algorithms of OPERATION, with their parameters if DETAILED. */
static bool print_operation(const char *operation, bool detailed, MPI_Comm comm, FILE *json) {
    COLL_Candidate candidates[MOST_CANDIDATES];
    int count, code = COLL_Explain(operation, 1, 0, comm, candidates, MOST_CANDIDATES, &count);
    if (code != MPI_SUCCESS)
        return app_mpi(&problem, code);
    for (int i = 0; i < count && i < MOST_CANDIDATES; i++) {
        const COLL_Candidate *c = &candidates[i];
        printf("%-14s %-44s %s\n", operation, c->spec, c->summary);
        if (!detailed)
            continue;
        print_params(c->params);
        app_json(json, app_json_text("op", operation), app_json_text("algorithm", c->name),
                 app_json_text("summary", c->summary), app_json_text("parameters", c->params));
    }
    return true;
}

/* Lists the algorithms of OPERATION; if OPERATION is NULL, those of all operations. */
static bool print_algorithms(const char *operation, bool detailed, MPI_Comm comm, FILE *json) {
    const char *name;
    int count,
        code = operation ? COLL_Explain(operation, 1, 0, comm, NULL, 0, &count) : MPI_SUCCESS;
    bool good = app_mpi(&problem, code);
    if (good)
        printf("%-14s %-44s %s\n", "operation", "algorithm", "what it does");
    for (int o = 0; good && (name = COLL_Operation_name(o)); o++)
        if (!operation || strcmp(name, operation) == 0)
            good = print_operation(name, detailed, comm, json);
    return good;
}

static void print_settings(void) {
    printf("\n%-20s %-20s %s\n", "setting", "value", "meaning");
    for (const COLL_Setting *s = COLL_Settings(); s->name; s++) {
        const char *value = getenv(s->name);
        printf("%-20s %-20s %s\n", s->name, value && *value ? value : "-", s->help);
    }
}

static void write_machine(const COLL_Description *d, FILE *json) {
    app_json(json, app_json_text("version", COLL_Version()), app_json_integer("ranks", d->ranks),
             app_json_integer("nodes", d->nodes), app_json_integer("racks", d->racks),
             app_json_integer("sites", d->sites),
             app_json_integer("most_ranks_per_node", d->most_ranks_per_node),
             app_json_integer("cores_per_node", d->cores_per_node),
             app_json_integer("crowded", d->crowded), app_json_text("wait", d->wait),
             app_json_number("timeout_s", d->timeout), app_json_text("profile", d->profile));
    for (int level = 0; level < COLL_LEVELS; level++) {
        app_json(json, app_json_text("level", COLL_Level_name(level)),
                 app_json_number("latency_us", d->cost[level].latency * 1e6),
                 app_json_number("overhead_us", d->cost[level].overhead * 1e6),
                 app_json_number("MBps", 1e-6 / d->cost[level].per_byte),
                 app_json_number("wake_us", d->cost[level].wake * 1e6),
                 app_json_number("buffer_bytes", d->cost[level].buffer),
                 app_json_integer("measured", d->measured[level]));
    }
}

static bool show_machine(const COLL_Description *d, MPI_Comm comm, FILE *json) {
    COLL_Place *places = malloc((size_t)d->ranks * sizeof *places);
    if (!places)
        return app_refuse(&problem, "out of memory for %d places", d->ranks);
    int code = COLL_Places(comm, places);
    if (code == MPI_SUCCESS) {
        print_versions();
        print_machine(d);
        print_costs(d);
        print_nodes(places, d->ranks);
    }
    free(places);
    if (code != MPI_SUCCESS)
        return app_mpi(&problem, code);
    putchar('\n');
    if (!print_algorithms(NULL, false, comm, json))
        return false;
    print_settings();
    write_machine(d, json);
    return true;
}

/* Orders candidates by time, the fastest first; those that can't run come last. */
static int by_time(const void *a, const void *b) {
    const COLL_Candidate *x = a, *y = b;
    if (x->applicable != y->applicable)
        return y->applicable - x->applicable;
    if (x->played != y->played)
        return x->played > y->played ? 1 : -1;
    return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

static void print_candidate(const command *options, const COLL_Candidate *c, int ranks,
                            FILE *json) {
    printf("%c %-44s ", c->chosen ? '*' : ' ', c->spec);
    if (c->applicable)
        printf("%14.1f", c->predicted * 1e6);
    else
        printf("%14s", c->otherwise > 0 ? "ruled out" : "can't run here");
    if (c->played > 0)
        printf(" %14.1f %11.4g %11.4g %11.4g", c->played * 1e6, c->host_bytes, c->rack_bytes,
               c->site_bytes);
    printf("%s%s\n", c->chosen ? "  chosen: " : "", c->chosen ? c->why : "");

    const char *colon = strchr(c->spec, ':');
    app_json(
        json, app_json_text("op", options->operation), app_json_text("algorithm", c->name),
        app_json_text("params", colon ? colon + 1 : ""), app_json_integer("ranks", ranks),
        app_json_integer("bytes", (int64_t)options->bytes),
        app_json_integer("applicable", c->applicable),
        app_json_number("predicted_us", c->predicted * 1e6),
        app_json_number("model_us", c->predicted * 1e6),
        app_json_number("played_us", c->played * 1e6), app_json_number("host_bytes", c->host_bytes),
        app_json_number("rack_bytes", c->rack_bytes), app_json_number("site_bytes", c->site_bytes),
        app_json_integer("chosen", c->chosen), app_json_text("why", c->chosen ? c->why : ""));
}

static void print_notes(const COLL_Description *d, int ranks, int racks, int sites) {
    char of_sites[40] = "";
    if (sites > 0)
        snprintf(of_sites, sizeof of_sites, " of %d site%s", sites, plural_suffix(sites));
    if (ranks <= d->most_ranks_per_node)
        puts("# on one node the MPI library's own algorithm runs, whatever is predicted, unless a "
             "setting names\n# another one: its shared memory is hard to beat");
    if (ranks == 1)
        puts("# one rank needs no messages; --ranks P explains for more");
    int per_rack = (d->nodes + d->racks - 1) / d->racks;
    if (racks > 0)
        printf("# as if %d ranks were spread over %d rack%s%s, %d a node\n", ranks, racks,
               plural_suffix(racks), of_sites, d->most_ranks_per_node);
    if (ranks == d->ranks || racks > 0)
        return;
    printf("# as if %d ranks were spread as the %d that run: %d a node, ", ranks, d->ranks,
           d->most_ranks_per_node);
    if (d->racks > 1)
        printf("%d node%s a rack\n", per_rack, plural_suffix(per_rack));
    else
        puts("all nodes in one rack");
}

/*
 * Prints how much slower the chosen algorithm is than the fastest of the COUNT candidates that only
 * COLL_REPRODUCIBLE rules out.
 */
static void print_price_of_reproducibility(const COLL_Candidate candidates[], int count) {
    const COLL_Candidate *fastest = NULL;
    for (const COLL_Candidate *c = candidates; c < candidates + count; c++)
        if (c->otherwise > 0 && (!fastest || c->otherwise < fastest->otherwise))
            fastest = c;
    const COLL_Candidate *chosen = candidates;
    while (chosen < candidates + count && !chosen->chosen)
        chosen++;
    if (fastest && chosen < candidates + count)
        printf("# COLL_REPRODUCIBLE=1 costs: without it %s would take %.1f us, %s is %.2f times as "
               "slow\n",
               fastest->name, fastest->otherwise * 1e6, chosen->name,
               chosen->predicted / fastest->otherwise);
}

/*
 * Returns the number of events to simulate in addition to libcoll's own estimate, which by default
 * is precise enough if ranks are few.
 */
static int events_of(const command *options, int ranks) {
    enum { FEW = 4096, EVENTS = 2000000 };
    return options->events >= 0 ? options->events : ranks > FEW ? EVENTS : 0;
}

static bool explain_choice(const command *options, const COLL_Description *d, MPI_Comm comm,
                           FILE *json) {
    COLL_Candidate candidates[MOST_CANDIDATES];
    int count, ranks = options->ranks ? options->ranks : d->ranks;
    const COLL_Question question = {.operation = options->operation,
                                    .bytes = (MPI_Count)options->bytes,
                                    .root = options->root,
                                    .ranks = options->ranks,
                                    .racks = options->racks,
                                    .sites = options->sites,
                                    .events = events_of(options, ranks)};
    int code = COLL_Explain_question(&question, comm, candidates, MOST_CANDIDATES, &count);
    if (code != MPI_SUCCESS)
        return app_mpi(&problem, code);
    count = count < MOST_CANDIDATES ? count : MOST_CANDIDATES;
    qsort(candidates, (size_t)count, sizeof *candidates, by_time);
    printf("# %s of %" PRIu64 " bytes, root %d of %d ranks; costs: %s\n", options->operation,
           options->bytes, options->root, ranks, d->profile);
    printf("  %-44s %14s", "algorithm", "predicted_us");
    if (question.events)
        printf(" %14s %11s %11s %11s", "played_us", "host_bytes", "rack_bytes", "site_bytes");
    putchar('\n');
    for (int i = 0; i < count; i++)
        print_candidate(options, &candidates[i], ranks, json);
    print_price_of_reproducibility(candidates, count);
    print_notes(d, ranks, options->racks, options->sites);
    return true;
}

/* Prints everything, at rank 0. */
static void print_output(const command *options, const COLL_Description *d, MPI_Comm comm) {
    app_output json;
    if (!app_output_open(&json, options->json, &problem))
        return;
    bool good = options->algorithms  ? print_algorithms(options->operation, true, comm, json.file)
                : options->operation ? explain_choice(options, d, comm, json.file)
                                     : show_machine(d, comm, json.file);
    if (good && app_output_flush_stdout(&problem))
        app_output_commit(&json, &problem);
    app_output_discard(&json);
}

static void agree_or_end(MPI_Comm comm) {
    app_agree_or_end(comm, program, &problem);
}

/*
 * Lists every setting with its values and its default, without MPI; scripts/tables parses this.
 */
static int list_settings(void) {
    for (const COLL_Setting *s = COLL_Settings(); s->name; s++)
        printf("%s\n    sets     %s\n    values   %s\n    default  %s\n", s->name, s->help,
               s->values, s->default_value);
    return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "explain") == 0 && strcmp(argv[2], "dcp") == 0)
        return explain_dcp_main(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "doctor") == 0)
        return doctor_main(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "draw") == 0)
        return draw_main(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "learnt") == 0)
        return learnt_main(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "place") == 0)
        return place_main(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "replay") == 0)
        return replay_main(argc - 1, argv + 1);
    if (argc == 2 && strcmp(argv[1], "settings") == 0)
        return list_settings();
    command options = {.operation = NULL, .events = -1};
    parse_options(argc, argv, &options);
    MPI_Comm comm = app_begin(&argc, &argv, program, &problem);
    COLL_Description description;
    int code = COLL_Describe(comm, &description);
    app_mpi(&problem, code);
    agree_or_end(comm);
    if (app_rank(comm) == 0)
        print_output(&options, &description, comm);
    agree_or_end(comm);
    app_words_free(&options.words);
    return app_end(&comm);
}
