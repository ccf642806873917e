/* SPDX-License-Identifier: BSD-3-Clause */
/* coll-info place: searches for a better placement of a recorded job's ranks. */
#include "config.h"

#include "tools/commands.h"

#include "app/agreement.h"
#include "app/options.h"
#include "app/output.h"
#include "tools/info/slots.h"

#include <coll.h>
#include <coll_tools.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char program[] = "coll-info";

static const char usage[] =
    "usage: coll-info place DIR --hostfile FILE --output RANKFILE [OPTION...]\n"
    "\n"
    "Searches for a better placement of the ranks of the job that COLL_RECORD=DIR has recorded,\n"
    "and writes it as a rankfile of Open MPI. Prints the estimated time before and after.\n";

static const char notes[] =
    "Before is the recorded placement if the hostfile has its hosts, else the hostfile's order.\n"
    "See docs/replay.md.\n";

typedef struct command {
    app_words words;
    const char *hostfile, *output;
    int seed;
    COLL_Cluster cluster;
} command;

static app_problem problem;

static bool parse_options(int argc, char **argv, command *options) {
    COLL_Cluster *cluster = &options->cluster;
    const app_option table[] = {
        {.operands = &options->words, .most = 1},
        {"hostfile", "FILE", "the hosts, as for mpirun: a host on each line, with slots=N",
         .text = &options->hostfile, .required = true},
        {"output", "RANKFILE", "the placement, for mpirun --rankfile", .text = &options->output,
         .required = true},
        CLUSTER_TOPOLOGY_OPTION(cluster),
        CLUSTER_PROFILE_OPTION(cluster),
        {"seed", "N", "of the random placements from which the search also begins",
         .integer = &options->seed, .most = INT_MAX},
    };
    const app_command line = {"coll-info place", usage, notes, APP_TABLE(table)};
    if (!app_parse(&line, argc, argv, &problem))
        return false;
    return options->words.count == 1 ||
           app_refuse(&problem, "place needs the directory of a record, as in: place DIR");
}

/* Writes the host and slot of each of RANKS ranks. SLOT_OF has the slot of each rank, HOSTS the
 * host of each slot. */
static void write_rankfile(FILE *file, const char *const hosts[], const int slot_of[], int ranks) {
    for (int rank = 0; rank < ranks; rank++) {
        const char *host = hosts[slot_of[rank]];
        int before = 0; /* earlier slots of the host, which the hostfile may name repeatedly */
        for (int slot = 0; slot < slot_of[rank]; slot++)
            before += strcmp(hosts[slot], host) == 0;
        fprintf(file, "rank %d=%s slot=%d\n", rank, host, before);
    }
}

static void print_gain(const COLL_Placement *found) {
    const double before = found->messages[0] + found->collectives[0],
                 after = found->messages[1] + found->collectives[1];
    printf("%-44s %11s %11s\n", "estimated seconds", "before", "after");
    printf("%-44s %11.4f %11.4f\n", "messages, on the busiest link", found->messages[0],
           found->messages[1]);
    printf("%-44s %11.4f %11.4f\n", "collectives", found->collectives[0], found->collectives[1]);
    printf("%-44s %11.4f %11.4f\n", "both", before, after);
    if (after < before)
        printf("# communication takes %.2f times less\n", before / after);
    else
        puts("# no better placement was found");
    if (found->no_uplinks)
        puts("# the profile has no rate of the uplinks (together_bytes_per_s of the level between "
             "racks or\n# sites): they are taken to pass all that their hosts send. If they are "
             "slower, run\n# coll-profile in these racks");
}

static void run(command *options) {
    COLL_Record *record = NULL;
    COLL_Placement found;
    COLL_Cluster *cluster = &options->cluster;
    slot_list slots = {.text = NULL};
    app_output output = {.file = NULL};
    int *slot_of = NULL;
    const char *directory = options->words.words[0];
    bool good = slots_check_output("--output", options->output, directory, options->hostfile,
                                   cluster, &problem) &&
                slots_read(options->hostfile, &slots, cluster, &problem) &&
                app_output_open(&output, options->output, &problem) &&
                app_mpi(&problem, COLL_Record_read(directory, &record));
    /* COLL_Replay_place refuses a job with more ranks than slots. */
    if (good && !(slot_of = malloc((size_t)cluster->slot_count * sizeof *slot_of)))
        good = app_refuse(&problem, "out of memory for %d slots", cluster->slot_count);
    good = good && app_mpi(&problem, COLL_Replay_place(record, cluster, (unsigned)options->seed,
                                                       slot_of, &found));
    if (good) {
        write_rankfile(output.file, cluster->slots, slot_of, COLL_Record_ranks(record));
        print_gain(&found);
        if (app_output_flush_stdout(&problem))
            app_output_commit(&output, &problem);
    }
    app_output_discard(&output);
    COLL_Record_free(record);
    slots_free(&slots);
    free(slot_of);
}

int place_main(int argc, char **argv) {
    command options = {.seed = 1};
    parse_options(argc, argv, &options);
    MPI_Comm comm = app_begin(&argc, &argv, program, &problem);
    if (app_rank(comm) == 0)
        run(&options);
    app_agree_or_end(comm, program, &problem);
    app_words_free(&options.words);
    return app_end(&comm);
}
