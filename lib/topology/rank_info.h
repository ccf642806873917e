/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of a process on where it runs. The reports of all ranks make a topology
 * (lib/topology/topo.h).
 */
#ifndef COLL_LIB_TOPOLOGY_RANK_INFO_H
#define COLL_LIB_TOPOLOGY_RANK_INFO_H

#include "lib/base/cores.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Most bytes of Slurm's path of switches down to a node, including its NUL. */
enum { COLL_RANK_INFO_ADDRESS = 1024 };

/*
 * TEXT holds the host name, NUL, Slurm's path of switches down to the node ("s4.s0", or "" for
 * none), NUL, and the bit mask of cores that the process may run on (lib/base/cores.h) up to its
 * last word that is not 0. The rest of TEXT is zero and need not be sent.
 */
typedef struct coll_rank_info {
    /* equal for processes that can share memory: same boot of the system, same host name */
    uint64_t node;
    int numa;         /* NUMA domain, as the system numbers it */
    int cores, quota; /* NODE and QUOTA of coll_cores */
    int job;   /* processes of the whole job on this node according to the launcher; 0: unknown */
    int bytes; /* used bytes of TEXT */
    char text[MPI_MAX_PROCESSOR_NAME + COLL_RANK_INFO_ADDRESS + 2 +
              COLL_CORES_WORDS * sizeof(uint64_t)];
} coll_rank_info;

/* Makes the report of this process. Local. Returns MPI's errors. */
int coll_rank_info_make(coll_rank_info *report);

/* Returns how many bytes of REPORT are used. */
static inline size_t coll_rank_info_bytes(const coll_rank_info *report) {
    return offsetof(coll_rank_info, text) + (size_t)report->bytes;
}

/* Adds the cores of REPORT to those in BOUND. */
void coll_rank_info_add_cores(const coll_rank_info *report, uint64_t bound[COLL_CORES_WORDS]);

#endif
