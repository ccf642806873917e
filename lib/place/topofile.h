/*
 * The racks and sites of hosts, from text in the syntax of Slurm's topology.conf or topology.yaml.
 * No MPI.
 *
 *     # two sites; the second has one rack
 *     SwitchName=rack0 Nodes=n[0-3,7,010-012],login1
 *     SwitchName=rack1 Nodes=n[4-6]
 *     SwitchName=core  Switches=rack[0-1]
 *     SwitchName=away  Nodes=far[0-9]
 *
 * A line is KEY=VALUE pairs: SwitchName with Nodes, Switches, both or neither, or BlockName with
 * Nodes; other keys (LinkSpeed, BlockSizes) mean nothing here. Keys are not case-sensitive, '#'
 * starts a comment, a backslash at the end continues a line, a value may be in double quotes. A
 * line "Include FILE" stands for the lines of FILE, which is beside this one unless its path begins
 * with a slash. Blocks don't count where switches list hosts.
 *
 * Or from a topology.yaml of Slurm's: a list of topologies, of which the first counts whose
 * cluster_default is true, else the first.
 *
 *     - topology: main
 *       cluster_default: true
 *       tree:
 *         switches:
 *           - switch: core
 *             children: rack[0-1]
 *           - switch: rack0
 *             nodes: n[0-3]
 *
 * or "block:" with "blocks:", a list of "block:" and "nodes:". Of YAML it takes what Slurm's manual
 * shows: lists and keys in lines of their own by indentation, plain or quoted values, comments.
 *
 * A host's rack is the switch or block that lists it, the first where several do. Its site is all
 * switches that are connected with that, so a fat tree of several spines is one site. Where the
 * file has racks only, with no switch above any of them, nothing tells sites apart, and all racks
 * are in one site. Where the file lists no hosts, all are in one rack.
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
 * Returns how FILE was understood where it can be understood in more than one way, "it is no tree,
 * as s0 is below s4 and s5: ...", or "". Of hosts in several racks it tells once they were looked
 * up. FILE keeps it.
 */
const char *coll_topofile_note(const coll_topofile *file);

/*
 * Finds HOST. *RACK and *SITE are numbered from 0 as they are found first; set
 * only on success. False, with PROBLEM, when no rack lists the host, or two list it with a domain
 * where HOST has none, or the other way round.
 */
bool coll_topofile_find(coll_topofile *file, const char *host, int *rack, int *site, char *problem);

#endif
