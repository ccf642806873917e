/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cache files of measured topologies, one for each set of hosts: topology-HASH.conf, or
 * topology-HASH-slow.conf if round trips are too long to tell racks apart, or
 * topology-HASH-doubtful.conf if a measurement has failed or its times were too unsteady
 * (lib/base/cachefile.h). Their syntax is that of lib/topology/topofile.h. network-HASH.profile is
 * for the rates of the same hosts (lib/cost/network_cache.h). No MPI.
 */
#ifndef COLL_LIB_TOPOLOGY_TOPOCACHE_H
#define COLL_LIB_TOPOLOGY_TOPOCACHE_H

#include "lib/topology/topology_source.h"

typedef enum coll_topocache_kind {
    COLL_TOPOCACHE_SURE,
    COLL_TOPOCACHE_SLOW,
    COLL_TOPOCACHE_DOUBTFUL,
    COLL_TOPOCACHE_NETWORK
} coll_topocache_kind;

/*
 * Returns the path of the cache file of KIND for HOSTS, whose order does not matter; the caller
 * frees it. Returns NULL if there is no home directory, if two hosts have the same name, or if out
 * of memory.
 */
char *coll_topocache_path(coll_topocache_kind kind, int nodes, char *const hosts[]);

/*
 * Writes the racks and sites of FOUND's hosts to PATH atomically, creating its directories. FOUND's
 * note is a comment line for the reader. Returns 0 or an errno.
 */
int coll_topocache_write(const char *path, const coll_topology_source_state *found);

#endif
