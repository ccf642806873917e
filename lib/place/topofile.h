/*
 * The racks and sites of hosts, from text in the syntax of Slurm's topology.conf. No MPI.
 *
 *     # two sites; the second has one rack
 *     SwitchName=rack0 Nodes=n[0-3,7,010-012],login1
 *     SwitchName=rack1 Nodes=n[4-6]
 *     SwitchName=core  Switches=rack[0-1]
 *     SwitchName=away  Nodes=far[0-9]
 *
 * A line is KEY=VALUE pairs: SwitchName with either Nodes or Switches; other keys (LinkSpeed) mean
 * nothing here. Keys are not case-sensitive, '#' starts a comment, a backslash at the end continues
 * a line, a value may be in double quotes. A switch has at most one switch above it.
 *
 * A host's rack is the switch that lists it. Its site is the topmost switch above that: one site
 * for each switch that no other lists. Where the file has racks only, with no switch above any of
 * them, nothing tells sites apart, and all racks are in one site.
 *
 * A host is looked up as it is spelled; where no rack lists it so, with the domain stripped if only
 * one of the two has one: node1 is node1.cluster.org, but node1.a.org is not node1.b.org. Host
 * lists are matched, never expanded, so n[0-999999999] costs nothing.
 */
#ifndef COLL_LIB_PLACE_TOPOFILE_H
#define COLL_LIB_PLACE_TOPOFILE_H

#include "lib/base/textfile.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct coll_topofile coll_topofile;

/*
 * Parses LENGTH bytes of TEXT, calling them PATH in error texts. The caller frees the result. NULL
 * on errors, with file, line and remedy in PROBLEM (COLL_TEXTFILE_PROBLEM bytes).
 */
coll_topofile *coll_topofile_parse(const char *path, const char *text, size_t length,
                                   char *problem);

/* The same for what the regular file at PATH holds. */
coll_topofile *coll_topofile_read(const char *path, char *problem);

void coll_topofile_free(coll_topofile *file);

/*
 * Finds HOST. *RACK and *SITE are numbered from 0 as they are found first; set
 * only on success. False, with PROBLEM, when no rack lists the host or two of them do.
 */
bool coll_topofile_find(coll_topofile *file, const char *host, int *rack, int *site, char *problem);

#endif
