/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/cost/network_cache.h"

#include "lib/cost/profilefile.h"
#include "lib/topology/topocache.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* Seconds for which the result of a measurement is used. Other jobs may have used the network while
 * it was measured, so it is measured again later. */
enum { KEPT = 7 * 24 * 3600 };

bool coll_network_cache_load(const coll_topo *topo, coll_profile *profile) {
    char problem[COLL_TEXTFILE_PROBLEM];
    char *path = coll_topocache_path(COLL_TOPOCACHE_NETWORK, topo->nodes, topo->hosts);
    coll_profile kept;
    struct stat status;
    bool good = path && stat(path, &status) == 0 && status.st_mtime >= time(NULL) - KEPT;
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

void coll_network_cache_save(const coll_topo *topo, const coll_profile *profile) {
    char problem[COLL_TEXTFILE_PROBLEM];
    COLL_Profile values = {.measured = {0}};
    char *path = coll_topocache_path(COLL_TOPOCACHE_NETWORK, topo->nodes, topo->hosts);
    for (int level = 0; level < COLL_LEVELS; level++) {
        values.cost[level] = profile->level[level];
        values.measured[level] = profile->measured[level];
    }
    if (path)
        (void)coll_profilefile_write(path, true, &values, (const char *const *)topo->hosts,
                                     topo->nodes, problem);
    free(path);
}
