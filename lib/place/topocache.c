#include "config.h"

#include "lib/place/topocache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* FNV-1a over the sorted names, NULs included; false when two are equal or memory is short. */
static bool hash_names(int nodes, char *const hosts[], uint64_t *hash) {
    char **sorted = malloc((size_t)nodes * sizeof *sorted);
    if (!sorted)
        return false;
    memcpy(sorted, hosts, (size_t)nodes * sizeof *sorted);
    qsort(sorted, (size_t)nodes, sizeof *sorted, by_name);
    bool distinct = true;
    *hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < nodes; i++) {
        distinct = distinct && (i == 0 || strcmp(sorted[i - 1], sorted[i]) != 0);
        for (size_t k = 0; k <= strlen(sorted[i]); k++)
            *hash = (*hash ^ (unsigned char)sorted[i][k]) * UINT64_C(0x100000001b3);
    }
    free(sorted);
    return distinct;
}

char *coll_topocache_path(int nodes, char *const hosts[]) {
    uint64_t hash;
    const char *home = getenv("XDG_CACHE_HOME"), *below = "";
    if (!home || *home != '/') { /* others are to be ignored, says the standard */
        home = getenv("HOME");
        below = "/.cache";
    }
    if (!home || *home != '/' || !hash_names(nodes, hosts, &hash))
        return NULL;
    size_t room = strlen(home) + 64;
    char *path = malloc(room);
    if (path)
        snprintf(path, room, "%s%s/libcoll/topology-%016" PRIx64 ".conf", home, below, hash);
    return path;
}

/* Makes all directories above the last name of PATH. */
static int make_directories(char *path) {
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int error = mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : errno;
        *slash = '/';
        if (error)
            return error;
    }
    return 0;
}

static void write_rack(FILE *stream, int nodes, char *const hosts[], const int racks[], int rack) {
    fprintf(stream, "SwitchName=rack%d Nodes=", rack);
    const char *comma = "";
    for (int node = 0; node < nodes; node++)
        if (racks[node] == rack) {
            fprintf(stream, "%s%s", comma, hosts[node]);
            comma = ",";
        }
    fputc('\n', stream);
}

/* Racks are numbered in order of their first node, so each is new when it is more than the last. */
static void write_racks(FILE *stream, int nodes, char *const hosts[], const int racks[]) {
    for (int node = 0, next = 0; node < nodes; node++)
        if (racks[node] == next)
            write_rack(stream, nodes, hosts, racks, next++);
}

static void write_sites(FILE *stream, int nodes, const int racks[], const int sites[]) {
    for (int first = 0, site = 0; first < nodes; first++) {
        if (sites[first] != site)
            continue;
        fprintf(stream, "SwitchName=site%d Switches=", site);
        const char *comma = "";
        for (int node = 0, rack = 0; node < nodes; node++) {
            if (racks[node] != rack)
                continue;
            if (sites[node] == site) {
                fprintf(stream, "%srack%d", comma, rack);
                comma = ",";
            }
            rack++;
        }
        fputc('\n', stream);
        site++;
    }
}

/* Writes all to STREAM and closes it. Returns 0 or an errno. */
static int write_stream(FILE *stream, int nodes, char *const hosts[], const int racks[],
                        const int sites[], const char *note) {
    fprintf(stream,
            "# %s\n# Delete this file, or set COLL_TOPOLOGY=auto:fresh, to measure again.\n", note);
    write_racks(stream, nodes, hosts, racks);
    write_sites(stream, nodes, racks, sites);
    int error = ferror(stream) ? EIO : 0;
    if (fflush(stream) || fsync(fileno(stream)))
        error = errno;
    if (fclose(stream) && !error)
        error = errno;
    return error;
}

int coll_topocache_write(const char *path, int nodes, char *const hosts[], const int racks[],
                         const int sites[], const char *note) {
    size_t room = strlen(path) + 8;
    char *scratch = malloc(room);
    if (!scratch)
        return ENOMEM;
    snprintf(scratch, room, "%s.XXXXXX", path);
    int error = make_directories(scratch);
    int file = error ? -1 : mkstemp(scratch);
    FILE *stream = file >= 0 ? fdopen(file, "w") : NULL;
    if (stream)
        error = write_stream(stream, nodes, hosts, racks, sites, note);
    else if (!error)
        error = errno;
    if (!stream && file >= 0)
        close(file);
    if (!error && rename(scratch, path) != 0)
        error = errno;
    if (file >= 0 && error)
        unlink(scratch);
    free(scratch);
    return error;
}
