/* The processor cores that this process may use, by binding and control groups. */
#ifndef COLL_LIB_BASE_CORES_H
#define COLL_LIB_BASE_CORES_H

#include <stdint.h>

enum { COLL_CORES_WORDS = 64, COLL_CORES_MOST = 64 * COLL_CORES_WORDS };

typedef struct coll_cores {
    /* The cores that it may run on, one bit each, numbered alike in all processes of a node. */
    uint64_t bound[COLL_CORES_WORDS];
    int node;  /* how many it could be bound to on this node, at least 1 */
    int quota; /* how many control groups let run at once, at least 1; INT_MAX: no limit */
    int numa;  /* the NUMA domain of all its cores; 0 where they are in several */
} coll_cores;

/* Found out on the first call, then remembered; never NULL, safe from any thread. */
const coll_cores *coll_cores_get(void);

/* The number of bits set in BOUND. */
int coll_cores_count(const uint64_t bound[COLL_CORES_WORDS]);

#endif
