/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/base/env.h"

#include "lib/base/c_locale.h"
#include "lib/base/error.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

#define ALGORITHM(variable, entries, mpi)                                                          \
    {                                                                                              \
        "COLL_" variable,                                                                          \
            "the algorithm of " entries " and, with the component or coll-run, of " mpi,           \
            "auto: the one predicted to be the fastest; or NAME[:PARAMETER=VALUE,...] "            \
            "(coll-info lists them)",                                                              \
            "auto; for MPI's functions under coll-run, the MPI library's own"                      \
    }

const COLL_Setting coll_settings[] = {
    ALGORITHM("BCAST", "COLL_Bcast", "MPI_Bcast"),
    ALGORITHM("GATHER", "COLL_Gather(v)", "MPI_Gather(v)"),
    {"COLL_AGGREGATE", "the algorithm of COLL_Aggregate",
     "auto, or NAME[:PARAMETER=VALUE,...] (coll-info lists them)", "auto"},
    ALGORITHM("ALLREDUCE", "COLL_Allreduce", "MPI_Allreduce"),
    ALGORITHM("REDUCE", "COLL_Reduce", "MPI_Reduce"),
    ALGORITHM("REDUCE_SCATTER", "COLL_Reduce_scatter(_block)", "MPI_Reduce_scatter(_block)"),
    ALGORITHM("ALLGATHER", "COLL_Allgather(v)", "MPI_Allgather(v)"),
    ALGORITHM("ALLTOALL", "COLL_Alltoall(v)", "MPI_Alltoall(v)"),
    ALGORITHM("SCATTER", "COLL_Scatter(v)", "MPI_Scatter(v)"),
    ALGORITHM("BARRIER", "COLL_Barrier", "MPI_Barrier"),
    ALGORITHM("SCAN", "COLL_Scan", "MPI_Scan"),
    ALGORITHM("EXSCAN", "COLL_Exscan", "MPI_Exscan"),
    ALGORITHM("NEIGHBOR_ALLGATHER", "COLL_Neighbor_allgather(v)", "MPI_Neighbor_allgather(v)"),
    ALGORITHM("NEIGHBOR_ALLTOALL", "COLL_Neighbor_alltoall(v)", "MPI_Neighbor_alltoall(v)"),
    {"COLL_REPRODUCIBLE", "whether reductions give the same bits whichever algorithm is chosen",
     "0: the bits depend on the algorithm, its parameters and the placement of the ranks; 1: they "
     "depend on the number of ranks alone, as only algorithms that combine in the same way are "
     "used (coll-info explain says what it costs)",
     "0"},
    {"COLL_DISABLE", "whether all operations are left to the MPI library, whatever else is set",
     "0: off; 1: on", "0"},
    {"COLL_WRAP", "which of a program's collectives libcoll replaces under coll-run",
     "LIST: operations as coll-info names them, separated by commas; all: all",
     "those whose algorithm is set"},
    {"COLL_TOPOLOGY", "which rack and site each host is in",
     "FILE: Slurm's topology.conf or topology.yaml; auto: measured once, then cached; "
     "auto:fresh: measured again; check:FILE: FILE, and a report of the hosts for which a "
     "measurement disagrees; flat: all hosts are in one rack",
     "in a Slurm job, Slurm's topology; otherwise as auto, for at most 0.3 s plus 16 ms for each "
     "host; flat if that finds nothing"},
    {"COLL_LATENCIES", "latencies between sites", "FILE: a matrix as in coll-hlot(1)", "measured"},
    {"COLL_PROFILE", "the costs of messages, for predictions",
     "FILE: written by coll-profile; built-in: gigabit Ethernet",
     "~/.config/libcoll/profile or /etc/libcoll/profile if measured on any of the job's hosts, "
     "else rates measured as the job begins, on three or more hosts"},
    {"COLL_LEARN",
     "whether calls sometimes try another algorithm and, if it is faster, keep using it, also in "
     "later runs",
     "0: no; 1: only operations that move data; all: also reductions, whose last bits may then "
     "differ between calls and runs",
     "1"},
    {"COLL_TIMEOUT", "seconds without progress after which a call fails and names the silent ranks",
     "0 to 1000000000; 0: never", "0"},
    {"COLL_WAIT", "how a rank waits for messages",
     "auto: polite if processes share cores, else spin; polite: yields and sleeps; spin: polls; "
     "block: in the MPI library's blocking calls (for simulators)",
     "auto"},
    {"COLL_PROGRESS", "what advances nonblocking and persistent operations",
     "calls: calls of libcoll; thread: also a progress thread while the program computes, which "
     "needs MPI_THREAD_MULTIPLE",
     "calls; for programs whose collectives coll-run gives to libcoll: thread"},
    {"COLL_DCP", "dedicated collective processors (DCPs) for a program under coll-run",
     "1:A: one for every A ranks of the program; N: N in all", "none"},
    {"COLL_DCP_TRANSPORT", "how a rank reaches a DCP on its own host",
     "auto: shared where possible; shared: shared memory; p2p: MPI messages", "auto"},
    {"COLL_DCP_LIMIT",
     "the largest allreduce or broadcast that DCPs serve, in bytes; if it is set, 32 times as "
     "much, at most 32K, is the limit of all blocks of a rank in an alltoall or reduce_scatter",
     "1 to 8K", "by the cost model: 1K to 8K, and 1K to 32K for blocks"},
    {"COLL_TRACE",
     "a line on stderr for each call and, under coll-run, a summary of where the time went",
     "0: off; 1: on", "0"},
    {"COLL_REPORT",
     "a report in MPI_Finalize: the calls, their time, what libcoll saved, and who arrives last",
     "0: off; 1: on stderr; FILE.txt: the same in a file; FILE.json: as JSON; FILE.svg: "
     "drawn; rank 0 of MPI_COMM_WORLD writes it",
     "0"},
    {"COLL_RECORD",
     "a directory in which each rank records its collectives and, under coll-run, the bytes that "
     "it "
     "sends to each rank, for coll-info replay and coll-info place",
     "DIRECTORY: is created; without a record so far", "none"},
    {"COLL_LIBRARY", "which libcoll the Python package coll loads", "FILE: libcoll.so.0",
     "the one that the loader finds"},
    {"COLL_WATCH", "reports of where a program hangs, under coll-run --watch",
     "SECONDS: a report of what all ranks do once a call has lasted that long; check: a check "
     "before each collective that all its ranks make the same call; SECONDS,check: both",
     "off"},
    {"COLL_WATCH_ABORT", "whether the first report of COLL_WATCH ends the job", "0: off; 1: on",
     "0"},
    {"COLL_WATCH_ON_HANG", "what happens once a report of COLL_WATCH proves that the job hangs",
     "abort: the job ends; COMMAND: sh runs it on the host of the rank that reports, with the "
     "report as JSON on its standard input",
     "nothing"},
    {"COLL_WATCH_DIR",
     "the directory through whose files the watchers of COLL_WATCH communicate, instead of by TCP",
     "DIRECTORY: one that all hosts share", "TCP; if that fails, the current directory of rank 0"},
    {"COLL_WATCH_JSON", "the file to which each report of COLL_WATCH is appended as a line of JSON",
     "FILE: on the host of the rank that reports", "none"},
    {"COLL_WATCH_TRACE", "the latest calls of all ranks in Chrome's trace format, under COLL_WATCH",
     "FILE: written by rank 0 at MPI_Finalize", "none"},
    {"COLL_WATCH_SVG", "an overview of the latest calls of all ranks, under COLL_WATCH",
     "FILE: written by rank 0 at MPI_Finalize", "none"},
    {"COLL_KMEANS_KERNEL", "the kernel with which coll-kmeans compares bytes",
     "avx512-vnni, avx-vnni, avx2, neon-i8mm, neon-dotprod, scalar",
     "the fastest that the processor has"},
    {.name = NULL},
};

const char *coll_env(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Settings of earlier versions, which have no effect; help says what replaces them. */
static const COLL_Setting retired[] = {
    {.name = "COLL_GUARD", .help = "COLL_LEARN does its work"},
    {.name = NULL},
};

/* Returns the setting in LIST with the name of VARIABLE ("NAME=VALUE"), or NULL. */
static const COLL_Setting *find_setting(const COLL_Setting list[], const char *variable) {
    size_t length = strcspn(variable, "=");
    for (const COLL_Setting *s = list; s->name; s++)
        if (strlen(s->name) == length && strncmp(s->name, variable, length) == 0)
            return s;
    return NULL;
}

/* Reports a retired setting on stderr, once per process. */
static void warn_retired(const COLL_Setting *setting) {
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr, "coll: %s does nothing any more, unset it: %s\n", setting->name,
                setting->help);
}

int coll_env_check(void) {
    static const char prefix[] = "COLL_", tests[] = "COLL_TEST_";
    for (char **variable = environ; variable && *variable; variable++) {
        bool ours = strncmp(*variable, prefix, sizeof prefix - 1) == 0 &&
                    strncmp(*variable, tests, sizeof tests - 1) != 0;
        if (!ours || find_setting(coll_settings, *variable))
            continue;
        const COLL_Setting *gone = find_setting(retired, *variable);
        if (gone) {
            warn_retired(gone);
            continue;
        }
        char names[300] = "";
        for (const COLL_Setting *s = coll_settings; s->name; s++)
            coll_error_list(names, sizeof names, s->name);
        return coll_error(MPI_ERR_ARG, "unknown setting %.*s; known: %s",
                          (int)strcspn(*variable, "="), *variable, names);
    }
    return MPI_SUCCESS;
}

/* the highest value of a setting in seconds: about thirty years */
static const double MOST_SECONDS = 1e9;

int coll_env_seconds(const char *name, double *seconds) {
    const char *text = coll_env(name);
    if (!text) {
        *seconds = 0;
        return MPI_SUCCESS;
    }
    double value;
    if (!coll_c_locale_number(text, &value) || !(value >= 0 && value <= MOST_SECONDS))
        return coll_error(MPI_ERR_ARG, "%s=%s: must be seconds, 0 to %.0f, as 2.5", name, text,
                          MOST_SECONDS);
    *seconds = value;
    return MPI_SUCCESS;
}

int coll_env_word(const char *name, const char *const words[], int *which) {
    const char *text = coll_env(name);
    char allowed[64] = "";
    for (int i = 0; text && words[i]; i++) {
        coll_error_list(allowed, sizeof allowed, words[i]);
        if (strcmp(text, words[i]) == 0) {
            *which = i;
            return MPI_SUCCESS;
        }
    }
    return text ? coll_error(MPI_ERR_ARG, "%s=%s: allowed: %s", name, text, allowed) : MPI_SUCCESS;
}

int coll_env_switch(const char *name, bool *on) {
    const char *text = coll_env(name);
    *on = text && strcmp(text, "1") == 0;
    if (text && !*on && strcmp(text, "0") != 0)
        return coll_error(MPI_ERR_ARG, "%s=%s: must be 0 or 1", name, text);
    return MPI_SUCCESS;
}

const COLL_Setting *COLL_Settings(void) {
    return coll_settings;
}
