/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/cost/network_cache.h"

#include "lib/base/cachefile.h"
#include "lib/cost/profilefile.h"
#include "lib/topology/topocache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Seconds for which a measured network counts: other jobs may have used it at that moment. */
enum { KEPT = 7 * 24 * 3600 };

static bool is_recent(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && status.st_mtime >= time(NULL) - KEPT;
}

bool coll_network_cache_load(const coll_topo *topo, coll_profile *profile) {
    char problem[COLL_TEXTFILE_PROBLEM];
    char *path = coll_topocache_path(COLL_TOPOCACHE_NETWORK, topo->nodes, topo->hosts);
    coll_profile kept;
    bool good = path && is_recent(path);
    if (good) {
        coll_profile_load(path, topo, &kept, problem);
        good = !*problem && kept.measured[COLL_LEVEL_RACK] &&
               kept.measured[COLL_LEVEL_SITE] == (topo->racks > 1);
    }
    if (good) {
        *profile = kept;
        profile->only_rates = true;
    }
    free(path);
    return good;
}

typedef struct network {
    const coll_topo *topo;
    const coll_profilefile *file;
} network;

static bool print_network(FILE *stream, const void *context) {
    const network *what = context;
    char problem[COLL_TEXTFILE_PROBLEM];
    return coll_profilefile_print(stream, what->file, (const char *const *)what->topo->hosts,
                                  what->topo->nodes, problem);
}

void coll_network_cache_save(const coll_topo *topo, const coll_profile *profile) {
    coll_profilefile file = {.hosts = NULL};
    const network what = {topo, &file};
    char *path = coll_topocache_path(COLL_TOPOCACHE_NETWORK, topo->nodes, topo->hosts);
    if (path && coll_profilefile_set_date(&file)) {
        memcpy(file.level, profile->level, sizeof file.level);
        memcpy(file.measured, profile->measured, sizeof file.measured);
        (void)coll_cachefile_write(path, print_network, &what, false);
    }
    free(path);
}
