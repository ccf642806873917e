/*
 * The files in which a measured topology is kept, for each set of hosts: topology-HASH.conf, or
 * topology-HASH-doubtful.conf where a measurement that nobody had asked for has shown nothing
 * (lib/base/cachefile.h). Their syntax is that of lib/place/topofile.h. No MPI.
 */
#ifndef COLL_LIB_PLACE_TOPOCACHE_H
#define COLL_LIB_PLACE_TOPOCACHE_H

#include <stdbool.h>

typedef enum coll_topocache_kind {
    COLL_TOPOCACHE_SURE,
    COLL_TOPOCACHE_DOUBTFUL
} coll_topocache_kind;

/*
 * Returns the path of the file of KIND for HOSTS, in any order; the caller frees it. NULL where
 * none can be had: no home directory, two hosts of the same name, no memory.
 */
char *coll_topocache_path(coll_topocache_kind kind, int nodes, char *const hosts[]);

/*
 * Writes the racks and sites of HOSTS to PATH, whole or not at all, and makes its directories; NOTE
 * is a line for the reader. Returns 0 or an errno.
 */
int coll_topocache_write(const char *path, int nodes, char *const hosts[], const int racks[],
                         const int sites[], const char *note);

#endif
