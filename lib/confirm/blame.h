/* Why an attempt of a confirmed broadcast failed: the diagnosis and its error message. */
#ifndef COLL_LIB_CONFIRM_BLAME_H
#define COLL_LIB_CONFIRM_BLAME_H

#include "lib/place/topo.h"

#include <stdint.h>

typedef enum coll_fault {
    COLL_FAULT_SILENT, /* WHO sends nothing */
    COLL_FAULT_STUCK,  /* all ranks are alive, but nothing arrives at WHO from FROM */
    COLL_FAULT_CORRUPT /* SEGMENT from FROM was damaged when it arrived at WHO */
} coll_fault;

enum { COLL_BLAME_ALSO = 4 }; /* most ranks in ALSO */

/* Sent as it is in memory. */
typedef struct coll_blame {
    uint32_t fault;
    int32_t who, from;
    int32_t more; /* number of other silent ranks; ALSO lists the first of them */
    int32_t also[COLL_BLAME_ALSO];
    int32_t unused; /* 0; fills a gap in the struct */
    double seconds; /* how long the silence or the stall has lasted */
    uint64_t segment;
} coll_blame;

/*
 * Returns the rank to put at the end of the chain in the next attempt, where no other rank depends
 * on it.
 */
int coll_blame_suspect(const coll_blame *blame, int root);

/*
 * Returns the error (MPI_ERR_OTHER) that names the ranks, their hosts and a remedy. TRIES is the
 * number of attempts so far.
 */
int coll_blame_error(const coll_blame *blame, const coll_topo *topo, unsigned tries);

#endif
