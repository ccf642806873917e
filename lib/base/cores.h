/* SPDX-License-Identifier: BSD-3-Clause */
/* The processor cores that this process may use, according to its binding and control groups. */
#ifndef COLL_LIB_BASE_CORES_H
#define COLL_LIB_BASE_CORES_H

#include <stdint.h>

enum { COLL_CORES_WORDS = 64, COLL_CORES_MOST = 64 * COLL_CORES_WORDS };

typedef struct coll_cores {
    /*
     * One bit for each core that the process is bound to. All processes of a node number the cores
     * the same way.
     */
    uint64_t bound[COLL_CORES_WORDS];
    int node;  /* cores of this node, at least 1 */
    int quota; /* cores' worth of time that control groups grant, at least 1; INT_MAX: no limit */
    int numa;  /* the NUMA domain of all these cores; 0 if they are in several */
} coll_cores;

/* Returns the cores of this process, determined on the first call. Never NULL; thread-safe. */
const coll_cores *coll_cores_get(void);

/* Returns the number of bits set in BOUND. */
int coll_cores_count(const uint64_t bound[COLL_CORES_WORDS]);

#endif
