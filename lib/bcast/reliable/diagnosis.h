/* SPDX-License-Identifier: BSD-3-Clause */
/* Why an attempt of a confirmed broadcast failed: the diagnosis and its error message. */
#ifndef COLL_LIB_BCAST_RELIABLE_DIAGNOSIS_H
#define COLL_LIB_BCAST_RELIABLE_DIAGNOSIS_H

#include "lib/topology/topo.h"

#include <stdint.h>

typedef enum coll_fault {
    COLL_FAULT_SILENT,  /* WHO sends nothing */
    COLL_FAULT_STUCK,   /* all ranks are alive, but nothing arrives at WHO from FROM */
    COLL_FAULT_CORRUPT, /* SEGMENT from FROM was damaged when it arrived at WHO */
    COLL_FAULT_MEMORY   /* WHO has no memory for another attempt */
} coll_fault;

enum { COLL_DIAGNOSIS_ALSO = 4 }; /* most ranks in ALSO */

/* Sent as it is in memory. */
typedef struct coll_diagnosis {
    uint32_t fault;
    int32_t who, from;
    int32_t more; /* number of other silent ranks; ALSO lists the first of them */
    int32_t also[COLL_DIAGNOSIS_ALSO];
    int32_t unused; /* 0; fills a gap in the struct */
    double seconds; /* how long the silence or the stall has lasted */
    uint64_t segment;
} coll_diagnosis;

/*
 * Returns the rank to put at the end of the chain in the next attempt. No other rank depends on the
 * rank at the end.
 */
int coll_diagnosis_suspect(const coll_diagnosis *diagnosis, int root);

/*
 * Returns the error (MPI_ERR_NO_MEM if memory is the reason, else MPI_ERR_OTHER) that names the
 * ranks, their hosts and a remedy. TRIES is the number of attempts so far.
 */
int coll_diagnosis_error(const coll_diagnosis *diagnosis, const coll_topo *topo, unsigned tries);

#endif
