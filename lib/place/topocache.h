/*
 * The file in which a measured topology is kept, one for each set of hosts:
 * topology-HASH.conf (lib/base/cachefile.h). Its syntax is that of lib/place/topofile.h. No MPI.
 */
#ifndef COLL_LIB_PLACE_TOPOCACHE_H
#define COLL_LIB_PLACE_TOPOCACHE_H

#include <stdbool.h>

/*
 * The path of the file for HOSTS, in any order; the caller frees it. NULL where none can be had:
 * no home directory, two hosts of the same name, no memory.
 */
char *coll_topocache_path(int nodes, char *const hosts[]);

/*
 * Writes the racks and sites of HOSTS to PATH, whole or not at all, and makes its directories; NOTE
 * is a line for the reader. Returns 0 or an errno.
 */
int coll_topocache_write(const char *path, int nodes, char *const hosts[], const int racks[],
                         const int sites[], const char *note);

#endif
