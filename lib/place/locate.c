#include "config.h"

#include "lib/place/locate.h"

#include "lib/base/agree.h"
#include "lib/base/error.h"
#include "lib/base/plain.h"
#include "lib/place/autotopo.h"
#include "lib/place/topocache.h"
#include "lib/place/topofile.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char AUTO[] = "auto", FRESH[] = "auto:fresh", CHECK[] = "check:";

typedef coll_location location;

/* Who measures. */
typedef struct team {
    MPI_Comm comm;
    int rank;
    const int *leaders;
} team;

/* --- from Slurm, from a file --- */

/* Slurm's switches above a node stand behind its host name. */
static const char *switches_of(const char *host) {
    return host + strlen(host) + 1;
}

/* Nodes below the same switches are in one rack, those below the same topmost one in one site. */
static void locate_by_slurm(const location *at) {
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
    snprintf(at->note, COLL_LOCATE_NOTE, "%s",
             named ? "from Slurm" : "nothing is said of racks; set COLL_TOPOLOGY");
}

static void locate_by_file(const location *at, const char *path, char *problem) {
    coll_topofile *file = coll_topofile_read(path, problem);
    for (int node = 0; file && !*problem && node < at->nodes; node++)
        coll_topofile_find(file, at->hosts[node], &at->racks[node], &at->sites[node], problem);
    const char *note = file ? coll_topofile_note(file) : "";
    snprintf(at->note, COLL_LOCATE_NOTE, "from %s%s%s", path, *note ? "; " : "", note);
    coll_topofile_free(file);
}

/* --- by measurement --- */

/* Writes what was measured, and how, as one line. */
static void describe(const coll_autotopo_report *report, char *text, size_t size) {
    const coll_clusters *found = &report->found;
    locale_t before = coll_plain_begin();
    int length = snprintf(text, size, "%d pairs measured in %.1f s%s: ", report->pairs,
                          report->seconds, report->complete ? "" : " (not all: out of time)");
    if (found->far > 0)
        snprintf(text + length, size - (size_t)length,
                 "round trips of %.1f us in racks, %.1f us across", 1e6 * found->near,
                 1e6 * found->far);
    else
        snprintf(text + length, size - (size_t)length, "no clear difference tells racks apart");
    coll_plain_end(before);
}

/* Keeps what was measured, on rank 0. */
static void keep(const location *at, const coll_autotopo_report *report) {
    char measured[200], date[32] = "", note[300];
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M", &local);
    describe(report, measured, sizeof measured);
    snprintf(note, sizeof note, "libcoll, %s: %d hosts; %s", date, at->nodes, measured);

    char *path = coll_topocache_path(at->nodes, at->hosts);
    int error =
        path ? coll_topocache_write(path, at->nodes, at->hosts, at->racks, at->sites, note) : 0;
    if (!path)
        snprintf(at->note, COLL_LOCATE_NOTE, "%s; not kept: no HOME, or hosts of the same name",
                 measured);
    else if (error)
        snprintf(at->note, COLL_LOCATE_NOTE, "%s; not kept in %s: %s", measured, path,
                 strerror(error));
    else
        snprintf(at->note, COLL_LOCATE_NOTE, "%s; kept in %s", measured, path);
    free(path);
}

static int locate_by_measurement(const team *who, const location *at,
                                 coll_autotopo_report *report) {
    int code =
        coll_autotopo(who->comm, at->nodes, at->hosts, who->leaders, at->racks, at->sites, report);
    if (code == MPI_SUCCESS && who->rank == 0)
        keep(at, report);
    return code;
}

/*
 * The first two nodes that are together by ONE but not by OTHER labels, or the other way round;
 * false where there are none.
 */
static bool disagree(int nodes, const int one[], const int other[], int pair[2]) {
    for (int a = 0; a < nodes; a++)
        for (int b = a + 1; b < nodes; b++)
            if ((one[a] == one[b]) != (other[a] == other[b])) {
                pair[0] = a;
                pair[1] = b;
                return true;
            }
    return false;
}

/* Prints where the labels of file PATH and the MEASURED ones disagree about what WHAT calls. */
static void compare(const location *at, const char *path, const char *what, const int given[],
                    const int measured[]) {
    int pair[2];
    if (disagree(at->nodes, given, measured, pair))
        fprintf(stderr,
                "coll: topology file %s disagrees with the measurement: hosts %s and %s are in %s "
                "there, but measured in %s (%s)\n",
                path, at->hosts[pair[0]], at->hosts[pair[1]],
                given[pair[0]] == given[pair[1]] ? what : "different ones",
                given[pair[0]] == given[pair[1]] ? "different ones" : what, at->note);
}

/* Measures, and prints on rank 0 where that differs from the file at PATH, whose word counts. */
static int check_by_measurement(const team *who, const location *at, const char *path) {
    coll_autotopo_report report;
    location measured = *at;
    size_t bytes = (size_t)at->nodes * sizeof *at->racks;
    measured.racks = malloc(2 * bytes);
    bool all;
    int code = coll_agree_good(who->comm, measured.racks != NULL, &all);
    if (code == MPI_SUCCESS && !all)
        code = coll_error(MPI_ERR_NO_MEM, "no memory to check a topology file");
    if (code == MPI_SUCCESS) {
        measured.sites = measured.racks + at->nodes;
        code = locate_by_measurement(who, &measured, &report);
    }
    if (code == MPI_SUCCESS && who->rank == 0) {
        compare(at, path, "one site", at->sites, measured.sites);
        if (report.found.far > 0)
            compare(at, path, "one rack", at->racks, measured.racks);
        else
            fprintf(stderr, "coll: the racks of topology file %s cannot be checked: %s\n", path,
                    at->note);
    }
    free(measured.racks);
    return code;
}

/* --- all --- */

/* Once a process: where the file can't be replaced, each communicator would say so. */
static void tell_damage(const char *problem) {
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&told))
        fprintf(stderr, "coll: the topology is measured again, the kept one is no good: %s\n",
                problem);
}

/* Refuses a file that leaves anything open: what libcoll keeps lists all hosts, once each. */
static void check_kept(const location *at, const char *path, char *problem) {
    char plain[COLL_LOCATE_NOTE];
    snprintf(plain, sizeof plain, "from %s", path);
    size_t length = strlen(plain);
    if (!*problem && strncmp(at->note, plain, length) == 0 && at->note[length] == ';')
        snprintf(problem, COLL_TEXTFILE_PROBLEM, "topology file %.120s, line 1: %.80s", path,
                 at->note + length + 2);
}

/* What the cache knows. A damaged one is worth no more than none. */
static coll_locate_rest locate_by_cache(const location *at) {
    char problem[COLL_TEXTFILE_PROBLEM] = "";
    char *path = coll_topocache_path(at->nodes, at->hosts);
    bool kept = path && access(path, F_OK) == 0;
    if (kept) {
        locate_by_file(at, path, problem);
        check_kept(at, path, problem);
    }
    free(path);
    if (*problem)
        tell_damage(problem);
    return kept && !*problem ? COLL_LOCATE_NOTHING : COLL_LOCATE_MEASURE;
}

coll_locate_rest coll_locate(const coll_location *at, const char *source, char *problem) {
    *problem = '\0';
    if (!*source) {
        locate_by_slurm(at);
        return COLL_LOCATE_NOTHING;
    }
    if (strcmp(source, AUTO) == 0)
        return locate_by_cache(at);
    if (strcmp(source, FRESH) == 0)
        return COLL_LOCATE_MEASURE;
    if (strncmp(source, CHECK, strlen(CHECK)) == 0) {
        locate_by_file(at, source + strlen(CHECK), problem);
        return COLL_LOCATE_COMPARE;
    }
    locate_by_file(at, source, problem);
    return COLL_LOCATE_NOTHING;
}

int coll_locate_rest_of(MPI_Comm comm, coll_locate_rest rest, const char *source,
                        const int leaders[], const coll_location *at) {
    team who = {.comm = comm, .leaders = leaders};
    coll_autotopo_report report;
    int code = PMPI_Comm_rank(comm, &who.rank);
    if (code == MPI_SUCCESS && rest == COLL_LOCATE_MEASURE)
        code = locate_by_measurement(&who, at, &report);
    if (code == MPI_SUCCESS && rest == COLL_LOCATE_COMPARE)
        code = check_by_measurement(&who, at, source + strlen(CHECK));
    if (code == MPI_SUCCESS)
        code = PMPI_Bcast(at->racks, at->nodes, MPI_INT, 0, comm);
    if (code == MPI_SUCCESS)
        code = PMPI_Bcast(at->sites, at->nodes, MPI_INT, 0, comm);
    if (code == MPI_SUCCESS)
        code = PMPI_Bcast(at->note, COLL_LOCATE_NOTE, MPI_CHAR, 0, comm);
    return code;
}
