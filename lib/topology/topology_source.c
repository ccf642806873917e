/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/topology_source.h"

#include "lib/base/c_locale.h"
#include "lib/base/error.h"
#include "lib/base/members.h"
#include "lib/topology/topocache.h"
#include "lib/topology/topofile.h"
#include "lib/topology/topology_probe.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char AUTO[] = "auto", FRESH[] = "auto:fresh", CHECK[] = "check:", FLAT[] = "flat";

/*
 * Limits of a measurement that the user asked for and will wait for. TCP repeats a lost request
 * after 1 s, and again after 3 s at the latest; TIMEOUT allows for both.
 */
static const coll_topology_probe_limits ASKED = {.longest = 60, .timeout = 3.5};

/*
 * Limits of a measurement by default, which the user should hardly notice. EACH_NODE seconds are
 * added to LONGEST for each node.
 */
static const coll_topology_probe_limits UNASKED = {.longest = 0.3, .timeout = 0.1};
static const double EACH_NODE = 16e-3;

/* With fewer nodes racks make no difference. */
enum { FEWEST_NODES = 3 };

/* Seconds for which a measurement is not repeated: DAY if it found round trips too long to tell
 * racks apart, which is a property of the network; DOUBT, only by default, if it failed or was too
 * unsteady. */
enum { DOUBT = 600, DAY = 24 * 3600 };

typedef coll_topology_source_state location;

/* The ranks that measure. */
typedef struct team {
    coll_comm *comm;
    const int *leaders;
    int *measured; /* memory for the racks and sites of a check */
    void *memory;  /* for coll_topology_probe */
} team;

/* --- from Slurm, from a file --- */

/* Returns Slurm's switches above a node, which follow its host name. */
static const char *switches_of(const char *host) {
    return host + strlen(host) + 1;
}

static void locate_in_one_rack(const location *at, const char *why) {
    memset(at->racks, 0, (size_t)at->nodes * sizeof *at->racks);
    memset(at->sites, 0, (size_t)at->nodes * sizeof *at->sites);
    snprintf(at->note, COLL_TOPOLOGY_SOURCE_NOTE, "one rack: %s", why);
}

/*
 * Locates the nodes by Slurm's switches: nodes below the same switches are in one rack. If some
 * node is below several switches, nodes below the same topmost switch are in one site, else all
 * nodes are. Returns false if Slurm names no switches.
 */
static bool locate_by_slurm(const location *at) {
    bool layered = false, named = false;
    for (int node = 0; node < at->nodes; node++) {
        layered = layered || strchr(switches_of(at->hosts[node]), '.');
        named = named || *switches_of(at->hosts[node]);
    }
    int racks = 0, sites = 0;
    for (int node = 0; node < at->nodes; node++) {
        const char *mine = switches_of(at->hosts[node]);
        size_t top = strcspn(mine, ".");
        at->racks[node] = racks;
        at->sites[node] = layered ? sites : 0;
        for (int other = node - 1; other >= 0 && at->racks[node] == racks; other--) {
            const char *others = switches_of(at->hosts[other]);
            if (strcmp(mine, others) == 0)
                at->racks[node] = at->racks[other];
            if (strncmp(mine, others, top) == 0 && strcspn(others, ".") == top)
                at->sites[node] = at->sites[other];
        }
        racks += at->racks[node] == racks;
        sites += at->sites[node] == sites;
    }
    snprintf(at->note, COLL_TOPOLOGY_SOURCE_NOTE, "from Slurm");
    return named;
}

/* Locates the nodes by the file at PATH. A file that libcoll has CACHED lists every host exactly
 * once: if it is ambiguous, that is a problem, too. */
static void locate_by_file(const location *at, const char *path, bool cached, char *problem) {
    coll_topofile *file = coll_topofile_read(path, problem);
    for (int node = 0; file && !*problem && node < at->nodes; node++)
        coll_topofile_find(file, at->hosts[node], &at->racks[node], &at->sites[node], problem);
    const char *note = file ? coll_topofile_note(file) : "";
    snprintf(at->note, COLL_TOPOLOGY_SOURCE_NOTE, "from %s%s%s", path, *note ? "; " : "", note);
    if (cached && *note && !*problem)
        snprintf(problem, COLL_TEXTFILE_PROBLEM, "topology file %.120s, line 1: %.80s", path, note);
    coll_topofile_free(file);
}

/* --- by measurement --- */

/* Writes one line to TEXT that says what was measured and how, or why nothing was. */
static void describe_measurement(const location *at, const coll_topology_probe_report *report,
                                 char *text, size_t size) {
    const coll_racks_found *found = &report->found;
    if (report->end == COLL_TOPOLOGY_PROBE_LATE) {
        snprintf(text, size, "%d hosts can't be measured within %.2g s", at->nodes,
                 report->seconds);
        return;
    }
    if (report->end == COLL_TOPOLOGY_PROBE_SILENT) {
        snprintf(text, size, "%.60s gets no answer from %.60s by TCP",
                 at->hosts[report->missing[0]], at->hosts[report->missing[1]]);
        return;
    }
    if (report->end == COLL_TOPOLOGY_PROBE_UNABLE) {
        snprintf(text, size, "a host has no IPv4 address of its own, no free port or no memory");
        return;
    }
    locale_t before = coll_c_locale_begin();
    int length =
        snprintf(text, size, "%d pairs measured in %.2f s: ", report->pairs, report->seconds);
    if (found->far > 0)
        snprintf(text + length, size - (size_t)length,
                 "round trips of %.1f us in racks, %.1f us across", 1e6 * found->near,
                 1e6 * found->far);
    else
        snprintf(text + length, size - (size_t)length, "%s",
                 found->slow   ? "round trips are too long to tell racks apart"
                 : found->sure ? "no difference tells racks apart"
                               : "times are too unsteady");
    coll_c_locale_end(before);
}

/*
 * On rank 0, writes AT's racks and sites to the cache file of KIND, with the date and HOW they were
 * found. Sets AT's note to HOW and whether the file was written.
 */
static void write_cache(const location *at, coll_topocache_kind kind, const char *how) {
    char date[32] = "", note[300];
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M", &local);
    snprintf(note, sizeof note, "libcoll, %s: %d hosts; %s", date, at->nodes, how);

    location dated = *at;
    dated.note = note;
    char *path = coll_topocache_path(kind, at->nodes, at->hosts);
    int error = path ? coll_topocache_write(path, &dated) : 0;
    if (!path)
        snprintf(at->note, COLL_TOPOLOGY_SOURCE_NOTE,
                 "%s; not kept: no HOME, or hosts of the same name", how);
    else if (error)
        snprintf(at->note, COLL_TOPOLOGY_SOURCE_NOTE, "%s; not kept in %s: %s", how, path,
                 strerror(error));
    else
        snprintf(at->note, COLL_TOPOLOGY_SOURCE_NOTE, "%s; kept in %s", how, path);
    free(path);
}

/* Returns the kind of cache file for what was measured. */
static coll_topocache_kind cache_kind(const coll_topology_probe_report *report) {
    if (report->end != COLL_TOPOLOGY_PROBE_DONE)
        return COLL_TOPOCACHE_DOUBTFUL;
    return report->found.sure   ? COLL_TOPOCACHE_SURE
           : report->found.slow ? COLL_TOPOCACHE_SLOW
                                : COLL_TOPOCACHE_DOUBTFUL;
}

/*
 * Measures racks and sites. If the user has ASKED for that, a failure is an error; otherwise the
 * measurement must take little time, and all nodes are in one rack unless the result is sure.
 */
static int locate_by_measurement(const team *who, const location *at, bool asked,
                                 coll_topology_probe_report *report) {
    char how[200];
    coll_topology_probe_limits limits = asked ? ASKED : UNASKED;
    if (!asked)
        limits.longest += at->nodes * EACH_NODE;
    int code = coll_topology_probe(who->comm, at->nodes, who->leaders, limits, who->memory,
                                   at->racks, at->sites, report);
    if (code != MPI_SUCCESS)
        return code;
    describe_measurement(at, report, how, sizeof how);
    if (asked && report->end != COLL_TOPOLOGY_PROBE_DONE)
        return coll_error(MPI_ERR_OTHER,
                          "cannot measure the topology: %s; set COLL_TOPOLOGY to a file", how);
    if (who->comm->rank != 0)
        return MPI_SUCCESS;
    const coll_topocache_kind kind = cache_kind(report);
    *at->doubtful = kind != COLL_TOPOCACHE_SURE;
    if (!asked && kind != COLL_TOPOCACHE_SURE) {
        locate_in_one_rack(at, how);
        snprintf(how, sizeof how, "%.190s", at->note);
    }
    write_cache(at, kind, how);
    return MPI_SUCCESS;
}

/*
 * Prints the first pair of hosts for which the file's labels (GIVEN) and the measured ones
 * disagree. WHAT names what equal labels mean: "one rack" or "one site". NOTE describes the
 * measurement.
 */
static void report_difference(const location *at, const char *path, const char *what,
                              const int given[], const int measured[], const char *note) {
    for (int a = 0; a < at->nodes; a++)
        for (int b = a + 1; b < at->nodes; b++) {
            const bool together = given[a] == given[b];
            if (together == (measured[a] == measured[b]))
                continue;
            fprintf(stderr,
                    "coll: topology file %s disagrees with the measurement: hosts %s and %s are in "
                    "%s there, but measured in %s (%s)\n",
                    path, at->hosts[a], at->hosts[b], together ? what : "different ones",
                    together ? "different ones" : what, note);
            return;
        }
}

/*
 * Measures, and prints on rank 0 how the result differs from the file at PATH, which remains in
 * force.
 */
static int check_by_measurement(const team *who, const location *at, const char *path) {
    coll_topology_probe_report report;
    char note[COLL_TOPOLOGY_SOURCE_NOTE];
    bool doubtful;
    location measured = *at;
    measured.note = note;
    measured.doubtful = &doubtful;
    measured.racks = who->measured;
    measured.sites = who->measured + at->nodes;
    int code = locate_by_measurement(who, &measured, true, &report);
    if (code == MPI_SUCCESS && who->comm->rank == 0) {
        report_difference(at, path, "one site", at->sites, measured.sites, note);
        if (report.found.far > 0)
            report_difference(at, path, "one rack", at->racks, measured.racks, note);
        else
            fprintf(stderr, "coll: the racks of topology file %s cannot be checked: %s\n", path,
                    note);
    }
    return code;
}

/* --- all --- */

/*
 * Locates the nodes by the cache file of KIND, if there is a file written at SINCE or later. A
 * damaged file counts as none, but sets PROBLEM.
 */
static bool locate_by_cache(const location *at, coll_topocache_kind kind, time_t since,
                            char *problem) {
    struct stat status;
    char *path = coll_topocache_path(kind, at->nodes, at->hosts);
    bool kept = path && stat(path, &status) == 0 && status.st_mtime >= since;
    if (kept)
        locate_by_file(at, path, true, problem);
    free(path);
    *at->doubtful = kept && kind != COLL_TOPOCACHE_SURE;
    return kept && !*problem;
}

/* Locates the nodes by the cached result of a measurement that was not doubtful, if there is
 * one. */
static bool locate_by_result(const location *at, char *problem) {
    return locate_by_cache(at, COLL_TOPOCACHE_SURE, 0, problem) ||
           locate_by_cache(at, COLL_TOPOCACHE_SLOW, time(NULL) - DAY, problem);
}

static coll_topology_source_rest locate_by_auto(const location *at) {
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char problem[COLL_TEXTFILE_PROBLEM] = "";
    if (locate_by_result(at, problem))
        return COLL_TOPOLOGY_SOURCE_NOTHING;
    /* Once per process: if the file can't be replaced, every communicator would report it. */
    if (*problem && !atomic_flag_test_and_set(&told))
        fprintf(stderr, "coll: the cached topology is damaged and is measured again: %s\n",
                problem);
    return COLL_TOPOLOGY_SOURCE_MEASURE;
}

static coll_topology_source_rest locate_by_default(const location *at) {
    char problem[COLL_TEXTFILE_PROBLEM] = "";
    if (locate_by_slurm(at))
        return COLL_TOPOLOGY_SOURCE_NOTHING;
    if (at->nodes < FEWEST_NODES) {
        locate_in_one_rack(at, "there are fewer than three hosts");
        return COLL_TOPOLOGY_SOURCE_NOTHING;
    }
    if (locate_by_result(at, problem) ||
        locate_by_cache(at, COLL_TOPOCACHE_DOUBTFUL, time(NULL) - DOUBT, problem))
        return COLL_TOPOLOGY_SOURCE_NOTHING;
    return COLL_TOPOLOGY_SOURCE_TRY;
}

coll_topology_source_rest coll_topology_source(const coll_topology_source_state *at,
                                               const char *source, char *problem) {
    *problem = '\0';
    *at->doubtful = false;
    if (!*source)
        return locate_by_default(at);
    if (strcmp(source, FLAT) == 0) {
        locate_in_one_rack(at, "by COLL_TOPOLOGY");
        return COLL_TOPOLOGY_SOURCE_NOTHING;
    }
    if (strcmp(source, AUTO) == 0)
        return locate_by_auto(at);
    if (strcmp(source, FRESH) == 0)
        return COLL_TOPOLOGY_SOURCE_MEASURE;
    if (strncmp(source, CHECK, strlen(CHECK)) == 0) {
        locate_by_file(at, source + strlen(CHECK), false, problem);
        return COLL_TOPOLOGY_SOURCE_COMPARE;
    }
    locate_by_file(at, source, false, problem);
    return COLL_TOPOLOGY_SOURCE_NOTHING;
}

void coll_topology_source_keep(const coll_topology_source_state *at, const char *how) {
    write_cache(at, COLL_TOPOCACHE_SURE, how);
}

/* Broadcasts what AT points to. */
static int broadcast_places(coll_comm *comm, const location *at) {
    const coll_members all = coll_members_all(comm, COLL_TAG_COLLECTIVE);
    const size_t numbers = (size_t)at->nodes * sizeof(int);
    int code = coll_members_bcast(&all, at->racks, numbers);
    if (code == MPI_SUCCESS)
        code = coll_members_bcast(&all, at->sites, numbers);
    if (code == MPI_SUCCESS)
        code = coll_members_bcast(&all, at->note, COLL_TOPOLOGY_SOURCE_NOTE);
    if (code == MPI_SUCCESS)
        code = coll_members_bcast(&all, at->doubtful, sizeof *at->doubtful);
    return code;
}

size_t coll_topology_source_bytes(int nodes) {
    return 2 * (size_t)nodes * sizeof(int) + coll_topology_probe_bytes(nodes);
}

int coll_topology_source_rest_of(coll_comm *comm, coll_topology_source_rest rest,
                                 const char *source, const int leaders[], void *memory,
                                 const coll_topology_source_state *at) {
    team who = {.comm = comm,
                .leaders = leaders,
                .measured = memory,
                .memory = (int *)memory + 2 * at->nodes};
    coll_topology_probe_report report;
    int code = rest == COLL_TOPOLOGY_SOURCE_COMPARE
                   ? check_by_measurement(&who, at, source + strlen(CHECK))
                   : locate_by_measurement(&who, at, rest == COLL_TOPOLOGY_SOURCE_MEASURE, &report);
    return code == MPI_SUCCESS ? broadcast_places(comm, at) : code;
}
