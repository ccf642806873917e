#include "config.h"

#include "lib/base/env.h"

#include "lib/base/error.h"
#include "lib/base/plain.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

#define ALGORITHM(variable, entries, mpi)                                                          \
    {                                                                                              \
        "COLL_" variable,                                                                          \
            "the algorithm of " entries "; by the component and under coll-run also of " mpi,      \
            "auto: the fastest by prediction; or NAME[:PARAMETER=VALUE,...] (coll-info lists "     \
            "them)",                                                                               \
            "auto; under coll-run for MPI's the MPI library's own"                                 \
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
    {"COLL_REPRODUCIBLE", "whether reductions give the same bits whatever is chosen",
     "0: by each algorithm, its values and the placement; 1: by the number of ranks alone: only by "
     "algorithms that combine in one way (coll-info explain says what it costs)",
     "0"},
    {"COLL_DISABLE", "leaves all operations to the MPI library's own, whatever else is set",
     "0: off; 1: on", "0"},
    {"COLL_WRAP", "which of a program's collectives libcoll runs under coll-run",
     "LIST: operations as coll-info names them, separated by commas; all: all",
     "those whose algorithm is set"},
    {"COLL_TOPOLOGY", "which rack and site each host is in",
     "FILE: Slurm's topology.conf or topology.yaml; auto: measured once and kept; auto:fresh: "
     "measured again; check:FILE: FILE, and a report of where measurement disagrees; flat: all "
     "hosts are in one rack",
     "what Slurm tells its jobs; otherwise as auto, for at most 0.2 s and 12 ms a host; where that "
     "shows nothing, flat"},
    {"COLL_LATENCIES", "latencies between sites", "FILE: a matrix as in coll-hlot(1)", "measured"},
    {"COLL_PROFILE", "what messages cost, for predictions",
     "FILE: written by coll-profile; built-in: gigabit Ethernet",
     "~/.config/libcoll/profile or /etc/libcoll/profile if measured on these hosts, else built-in"},
    {"COLL_LEARN",
     "whether calls now and then try an algorithm that may be faster, and run it from then on, in "
     "later runs, too",
     "0: they don't; 1: those that move data; all: reductions, too, whose last bits may then "
     "differ "
     "between calls and runs",
     "1"},
    {"COLL_TIMEOUT", "seconds without progress after which a call fails and names who is silent",
     "0 to 1000000000; 0: never", "0"},
    {"COLL_WAIT", "how a rank waits for messages",
     "auto: polite where processes share cores, else spin; polite: yields and sleeps; spin: polls; "
     "block: in the MPI library's blocking calls (for simulators)",
     "auto"},
    {"COLL_PROGRESS", "what advances nonblocking and persistent operations",
     "calls: calls of libcoll; thread: also a thread of its own while the program computes; needs "
     "MPI_THREAD_MULTIPLE",
     "calls"},
    {"COLL_DCP", "dedicated collective processors (DCPs) for a program under coll-run",
     "1:A: one for every A ranks of the program; N: so many in all", "none"},
    {"COLL_DCP_TRANSPORT", "how a rank reaches a DCP on its own host",
     "auto: shared where possible; shared: shared memory; p2p: MPI messages", "auto"},
    {"COLL_DCP_LIMIT",
     "the largest allreduce or broadcast that DCPs serve, in bytes; where it is set, all blocks of "
     "a rank together may be 32 times that in an alltoall or reduce_scatter, at most 32K",
     "1 to 8K", "by the cost model: 1K to 8K, and 1K to 32K for blocks"},
    {"COLL_TRACE", "a line on stderr for each call; under coll-run also where the time went",
     "0: off; 1: on", "0"},
    {"COLL_LIBRARY", "which libcoll the Python package coll loads", "FILE: libcoll.so.0",
     "the one that the loader finds"},
    {"COLL_WATCH", "says where a program hangs, under coll-run --watch",
     "SECONDS: a report of what all ranks do once a call has lasted so long; check: before each "
     "collective, that its ranks make the same call; SECONDS,check: both",
     "off"},
    {"COLL_WATCH_ABORT", "ends the job after the first report of COLL_WATCH", "0: off; 1: on", "0"},
    {"COLL_WATCH_DIR", "where the watchers of COLL_WATCH talk through files, instead of by TCP",
     "DIRECTORY: one that all hosts share",
     "by TCP; where that can't be, the current directory of rank 0"},
    {"COLL_WATCH_JSON", "where each report of COLL_WATCH is added to as a line of JSON",
     "FILE: on the host of the rank that reports", "nowhere"},
    {"COLL_WATCH_TRACE", "the latest calls of all ranks in Chrome's trace format, under COLL_WATCH",
     "FILE: written by rank 0 at MPI_Finalize", "none"},
    {"COLL_WATCH_SVG", "an overview of the latest calls of all ranks, under COLL_WATCH",
     "FILE: written by rank 0 at MPI_Finalize", "none"},
    {"COLL_KMEANS_KERNEL", "the kernel that coll-kmeans compares bytes with",
     "avx512-vnni, avx-vnni, avx2, neon-i8mm, neon-dotprod, scalar",
     "the fastest that the processor has"},
    {.name = NULL},
};

const char *coll_env(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Settings of earlier versions; help says what does their work now. */
static const COLL_Setting retired[] = {
    {.name = "COLL_GUARD", .help = "COLL_LEARN does its work"},
    {.name = NULL},
};

/* The setting in LIST that VARIABLE, "NAME=VALUE", is; or NULL. */
static const COLL_Setting *find(const COLL_Setting list[], const char *variable) {
    size_t length = strcspn(variable, "=");
    for (const COLL_Setting *s = list; s->name; s++)
        if (strlen(s->name) == length && strncmp(s->name, variable, length) == 0)
            return s;
    return NULL;
}

/* Says it once in the life of a process. */
static void say_retired(const COLL_Setting *setting) {
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
        if (!ours || find(coll_settings, *variable))
            continue;
        const COLL_Setting *gone = find(retired, *variable);
        if (gone) {
            say_retired(gone);
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

/* Thirty years. */
static const double MOST_SECONDS = 1e9;

int coll_env_seconds(const char *name, double *seconds) {
    const char *text = coll_env(name);
    if (!text) {
        *seconds = 0;
        return MPI_SUCCESS;
    }
    double value;
    if (!coll_plain_number(text, &value) || !(value >= 0 && value <= MOST_SECONDS))
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
