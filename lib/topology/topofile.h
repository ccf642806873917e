/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the racks and sites of hosts from text in the syntax of Slurm's topology.conf or
 * topology.yaml. No MPI.
 *
 *     # two sites; the second has one rack
 *     SwitchName=rack0 Nodes=n[0-3,7,010-012],login1
 *     SwitchName=rack1 Nodes=n[4-6]
 *     SwitchName=core  Switches=rack[0-1]
 *     SwitchName=away  Nodes=far[0-9]
 *
 * A line consists of KEY=VALUE pairs: SwitchName with Nodes, Switches, both or neither, or
 * BlockName with Nodes; other keys (LinkSpeed, BlockSizes) are ignored. Keys are not
 * case-sensitive, '#' starts a comment, a backslash at the end continues a line, a value may be in
 * double quotes. A line "Include FILE" stands for the lines of FILE; a relative path starts at the
 * directory of the file that has the line. Blocks are ignored if switches list hosts.
 *
 * In a topology.yaml of Slurm's, which is a list of topologies, the first topology with a true
 * cluster_default is used; if none has it, the first of the list.
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
 * A topology may also have "block:" with "blocks:", a list of "block:" and "nodes:". Any YAML is
 * read if configure found libyaml; else such a file is refused.
 *
 * A host's rack is the leaf switch or block that lists it, the first one if several do; if none
 * does, the first switch above other switches that lists it. The host's site is all switches that
 * are connected with its rack, so a fat tree with several spines is one site. If the file has only
 * racks, with no switch above any of them, nothing separates sites, and all racks are in one site.
 * If the file lists no hosts, all hosts are in one rack.
 *
 * A host is looked up as it is spelled. If no rack lists that name, it also matches a name from
 * which it differs only by a domain that one of the two lacks: node1 matches node1.cluster.org, but
 * node1.a.org does not match node1.b.org. Host lists are matched, never expanded, so n[0-999999999]
 * costs nothing.
 */
#ifndef COLL_LIB_TOPOLOGY_TOPOFILE_H
#define COLL_LIB_TOPOLOGY_TOPOFILE_H

#include "lib/base/textfile.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct coll_topofile coll_topofile;

/*
 * Parses TEXT, which has LENGTH bytes and a NUL after them. PATH is the file's name in error
 * messages. Takes ownership of PATH and TEXT, also on errors. The caller frees the result with
 * coll_topofile_free. Returns NULL on errors, with file, line and remedy in PROBLEM
 * (COLL_TEXTFILE_PROBLEM bytes).
 */
coll_topofile *coll_topofile_parse(char *path, char *text, size_t length, char *problem);

/* Parses the regular file at PATH in the same way; PATH remains the caller's. */
coll_topofile *coll_topofile_read(const char *path, char *problem);

void coll_topofile_free(coll_topofile *file);

/*
 * Returns how FILE was interpreted if it is ambiguous, "it is no tree, as s0 is below s4 and s5:
 * ...", or "". If several racks list a host, that is noted when the host is looked up, for the
 * first such host only. The string belongs to FILE.
 */
const char *coll_topofile_note(const coll_topofile *file);

/*
 * Finds HOST and sets *RACK and *SITE, which are numbered from 0 in the order in which they are
 * first found. Returns false, with PROBLEM set, if no rack lists the host, or if several racks
 * match it only when domains are ignored.
 */
bool coll_topofile_find(coll_topofile *file, const char *host, int *rack, int *site, char *problem);

#endif
