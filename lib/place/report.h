/*
 * What a process tells of where it runs. The reports of all ranks make a topology
 * (lib/place/topo.h).
 */
#ifndef COLL_LIB_PLACE_REPORT_H
#define COLL_LIB_PLACE_REPORT_H

#include "lib/base/cores.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* The longest path of Slurm's switches down to a node, its NUL included. */
enum { COLL_REPORT_ADDRESS = 1024 };

/*
 * TEXT has the host name, NUL, Slurm's path of switches down to it ("s4.s0", "" for none), NUL, and
 * then the cores that the process may run on (lib/base/cores.h) up to the last one. What lies
 * behind is zero, and need not be sent.
 */
typedef struct coll_report {
    uint64_t node;    /* equal where processes can share memory: on one system, by one host name */
    int numa;         /* as the system numbers it */
    int cores, quota; /* as in coll_cores: node's, and quota */
    int job;   /* processes of the whole job on the node, as far as the launcher tells, or 0 */
    int bytes; /* of the text that are used */
    char text[MPI_MAX_PROCESSOR_NAME + COLL_REPORT_ADDRESS + 2 +
              COLL_CORES_WORDS * sizeof(uint64_t)];
} coll_report;

/* This process's. Local; MPI's errors. */
int coll_report_make(coll_report *report);

/* What of REPORT is used. */
static inline size_t coll_report_bytes(const coll_report *report) {
    return offsetof(coll_report, text) + (size_t)report->bytes;
}

/* Adds the cores of REPORT to those in BOUND. */
void coll_report_add_cores(const coll_report *report, uint64_t bound[COLL_CORES_WORDS]);

#endif
