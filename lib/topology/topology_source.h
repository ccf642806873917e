/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Determines the racks and sites of nodes from the source that the user chooses: a file, Slurm, or
 * measurement.
 */
#ifndef COLL_LIB_TOPOLOGY_TOPOLOGY_SOURCE_H
#define COLL_LIB_TOPOLOGY_TOPOLOGY_SOURCE_H

#include "lib/base/comm.h"

#include <stdbool.h>
#include <stddef.h>

/* Most bytes of a note, including its NUL. */
enum { COLL_TOPOLOGY_SOURCE_NOTE = 512 };

/* What remains to be done after rank 0 has read files. */
typedef enum coll_topology_source_rest {
    COLL_TOPOLOGY_SOURCE_NOTHING,
    COLL_TOPOLOGY_SOURCE_TRY,     /* measure; if that fails, all nodes are in one rack */
    COLL_TOPOLOGY_SOURCE_MEASURE, /* measure; if that fails, return an error */
    /* measure and compare with the file; if measuring fails, return an error */
    COLL_TOPOLOGY_SOURCE_COMPARE
} coll_topology_source_rest;

/* The nodes of a communicator: their names, racks and sites, numbered by first appearance. */
typedef struct coll_topology_source_state {
    int nodes;
    char *const *hosts;
    int *racks, *sites;
    char *note;     /* COLL_TOPOLOGY_SOURCE_NOTE bytes: one line that names the source */
    bool *doubtful; /* there may be racks that round trips did not show */
} coll_topology_source_state;

/*
 * On rank 0, sets what AT points to as far as that needs no messages, and returns what remains to
 * be done. SOURCE is
 *
 *     auto        the cached topology of these hosts (topocache.h), else measured
 *                 (topology_probe.h) and cached; if the cached file is damaged, says so on stderr
 *                 once per process
 *     auto:fresh  measured and cached
 *     check:FILE  FILE; also measured and cached, and rank 0 prints on stderr if the two disagree
 *     FILE        the file (topofile.h)
 *     flat        all nodes in one rack
 *     ""          Slurm's address of each node; else, for three nodes or more, the cached topology,
 *                 else measured within a short time and cached; else all in one rack
 *
 * Each host name is followed, after its NUL, by Slurm's path of switches down to the node, "s0.s4"
 * or "", and another NUL. A node's rack is given by all switches of that path. If some path has
 * more than one switch, the site is the topmost switch; otherwise there is one site, as with files.
 * PROBLEM (COLL_TEXTFILE_PROBLEM bytes) receives an error message, or "".
 */
coll_topology_source_rest coll_topology_source(const coll_topology_source_state *at,
                                               const char *source, char *problem);

/* Returns the bytes of memory that coll_topology_source_rest_of needs. */
size_t coll_topology_source_bytes(int nodes);

/*
 * Does REST, which is not COLL_TOPOLOGY_SOURCE_NOTHING, on all ranks of COMM. Sets what AT points
 * to on all of them. On rank 0, AT must hold what coll_topology_source has found. LEADERS[node] is
 * the lowest rank of the node. MEMORY, aligned for integers, is as long as
 * coll_topology_source_bytes says. Errors: MPI_ERR_OTHER, with text, on all ranks; or MPI's.
 */
int coll_topology_source_rest_of(coll_comm *comm, coll_topology_source_rest rest,
                                 const char *source, const int leaders[], void *memory,
                                 const coll_topology_source_state *at);

/*
 * On rank 0, keeps AT's racks and sites, which were found HOW, for later jobs as a measured
 * topology. Sets AT's note to HOW and whether that succeeded.
 */
void coll_topology_source_keep(const coll_topology_source_state *at, const char *how);

#endif
