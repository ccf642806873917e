/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/topology/topocache.h"

#include "lib/base/cachefile.h"
#include "lib/base/hash.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Hashes the sorted names, including their NULs. Returns false if two are equal or if out of
 * memory.
 */
static bool hash_names(int nodes, char *const hosts[], uint64_t *hash) {
    char **sorted = malloc((size_t)nodes * sizeof *sorted);
    if (!sorted)
        return false;
    memcpy(sorted, hosts, (size_t)nodes * sizeof *sorted);
    qsort(sorted, (size_t)nodes, sizeof *sorted, by_name);
    bool distinct = true;
    *hash = COLL_HASH_NOTHING;
    for (int i = 0; i < nodes; i++) {
        distinct = distinct && (i == 0 || strcmp(sorted[i - 1], sorted[i]) != 0);
        *hash = coll_hash(*hash, sorted[i], strlen(sorted[i]) + 1);
    }
    free(sorted);
    return distinct;
}

char *coll_topocache_path(coll_topocache_kind kind, int nodes, char *const hosts[]) {
    static const struct {
        const char *first, *last;
    } parts[] = {[COLL_TOPOCACHE_SURE] = {"topology", ".conf"},
                 [COLL_TOPOCACHE_SLOW] = {"topology", "-slow.conf"},
                 [COLL_TOPOCACHE_DOUBTFUL] = {"topology", "-doubtful.conf"},
                 [COLL_TOPOCACHE_NETWORK] = {"network", ".profile"}};
    uint64_t hash;
    char name[64];
    if (!hash_names(nodes, hosts, &hash))
        return NULL;
    snprintf(name, sizeof name, "%s-%016" PRIx64 "%s", parts[kind].first, hash, parts[kind].last);
    return coll_cachefile_path(name);
}

static void write_rack(FILE *stream, const coll_topology_source_state *found, int rack) {
    fprintf(stream, "SwitchName=rack%d Nodes=", rack);
    const char *comma = "";
    for (int node = 0; node < found->nodes; node++)
        if (found->racks[node] == rack) {
            fprintf(stream, "%s%s", comma, found->hosts[node]);
            comma = ",";
        }
    fputc('\n', stream);
}

static void write_sites(FILE *stream, const coll_topology_source_state *found) {
    for (int first = 0, site = 0; first < found->nodes; first++) {
        if (found->sites[first] != site)
            continue;
        fprintf(stream, "SwitchName=site%d Switches=", site);
        const char *comma = "";
        for (int node = 0, rack = 0; node < found->nodes; node++) {
            if (found->racks[node] != rack)
                continue;
            if (found->sites[node] == site) {
                fprintf(stream, "%srack%d", comma, rack);
                comma = ",";
            }
            rack++;
        }
        fputc('\n', stream);
        site++;
    }
}

static bool print_topology(FILE *stream, const void *context) {
    const coll_topology_source_state *found = context;
    fprintf(stream,
            "# %s\n# Delete this file, or set COLL_TOPOLOGY=auto:fresh, to measure again.\n",
            found->note);
    for (int node = 0, next = 0; node < found->nodes; node++)
        if (found->racks[node] == next) /* racks are numbered in the order of their first nodes */
            write_rack(stream, found, next++);
    write_sites(stream, found);
    return true;
}

int coll_topocache_write(const char *path, const coll_topology_source_state *found) {
    return coll_cachefile_write(path, print_topology, found, true);
}
