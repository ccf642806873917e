/* Why a try of a confirmed broadcast failed: who is to blame, and how to say so. */
#ifndef COLL_LIB_CONFIRM_BLAME_H
#define COLL_LIB_CONFIRM_BLAME_H

#include "lib/place/topo.h"

#include <stdint.h>

typedef enum coll_fault {
    COLL_FAULT_SILENT, /* nothing is heard of WHO */
    COLL_FAULT_STUCK,  /* all are alive, but nothing comes from FROM to WHO */
    COLL_FAULT_CORRUPT /* SEGMENT from FROM came damaged to WHO */
} coll_fault;

enum { COLL_BLAME_ALSO = 4 };

/* Travels between ranks as it is. */
typedef struct coll_blame {
    uint32_t fault;
    int32_t who, from;
    int32_t more; /* others that are silent, too, though not as long; the first of them: */
    int32_t also[COLL_BLAME_ALSO];
    int32_t unused; /* 0: what travels has no gaps */
    double seconds; /* for how long */
    uint64_t segment;
} coll_blame;

/* The rank that the next try had better have at its end, where nobody depends on it. */
int coll_blame_suspect(const coll_blame *blame, int root);

/* The error, MPI_ERR_OTHER, that names ranks, hosts and remedy after so many TRIES. */
int coll_blame_error(const coll_blame *blame, const coll_topo *topo, unsigned tries);

#endif
