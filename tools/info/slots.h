/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of coll-info replay and place that describe a cluster, and the reader of its
 * hostfile: as for mpirun, with a host on each line and slots=N; # begins a comment. */
#ifndef COLL_TOOLS_INFO_SLOTS_H
#define COLL_TOOLS_INFO_SLOTS_H

#include "app/options.h"
#include "app/problem.h"

#include <coll_tools.h>
#include <stdbool.h>

#define CLUSTER_TOPOLOGY_OPTION(cluster)                                                           \
    {                                                                                              \
        "topology", "FILE",                                                                        \
            "the hosts' racks and sites, as for COLL_TOPOLOGY (default: the recorded hosts' as "   \
            "libcoll found them; of other hosts, one rack)",                                       \
            .text = &(cluster)->topology                                                           \
    }
#define CLUSTER_PROFILE_OPTION(cluster)                                                            \
    {                                                                                              \
        "profile", "FILE",                                                                         \
            "what messages cost there, as for COLL_PROFILE (default: the hosts' own profile, if "  \
            "they have one, else what a job measured there in the last week, or built-in)",        \
            .text = &(cluster)->profile                                                            \
    }

/* The memory of a hostfile. */
typedef struct slot_list {
    const char **hosts; /* of each slot, NULL without a hostfile */
    char *text;
} slot_list;

/*
 * Reads the file at PATH and sets the slots of CLUSTER, which uses the memory of SLOTS. Does
 * nothing if PATH is NULL. A host has CLUSTER's ranks_per_host slots. If ranks_per_host is 0, a
 * host has the number of slots in the file, or one. Returns false on errors, with the reason in
 * PROBLEM. The caller frees SLOTS even then.
 */
bool slots_read(const char *path, slot_list *slots, COLL_Cluster *cluster, app_problem *problem);
void slots_free(slot_list *slots);

/*
 * Checks that PATH, which the option NAME gives, can be written and is none of the files that are
 * read: those of the record in DIRECTORY, HOSTFILE, and CLUSTER's topology and profile. PATH and
 * HOSTFILE may be NULL.
 */
bool slots_check_output(const char *name, const char *path, const char *directory,
                        const char *hostfile, const COLL_Cluster *cluster, app_problem *problem);

#endif
