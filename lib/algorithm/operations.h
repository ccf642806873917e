/* SPDX-License-Identifier: BSD-3-Clause */
/* The properties of each operation. lib/api/registry.c lists the operations. */
#ifndef COLL_LIB_ALGORITHM_OPERATIONS_H
#define COLL_LIB_ALGORITHM_OPERATIONS_H

#include "lib/algorithm/algorithm.h"

typedef struct coll_operation_info {
    const char *name;     /* "bcast" */
    const char *variable; /* "COLL_BCAST" */
    const char *info_key; /* "coll_bcast" */

    coll_sides sides;

    /* Its algorithms, ended by NULL. The first one is the MPI library's own, if there is one. The
     * first one applies to every call, except to reductions that must be reproducible and, if it is
     * the MPI library's own, perhaps to counts that don't fit an int. */
    const coll_algorithm *const *table;

    bool rootless;      /* it has no root */
    bool reduces;       /* with an MPI_Op */
    bool uneven;        /* sizes may differ by rank, although no MPI call gives counts */
    bool errors_agreed; /* after an error no messages are under way, unless the algorithm has marked
                           the communicator broken */
    bool neighbors;     /* between the neighbours of a topology: blocks are numbered by edge */
    bool blocks; /* native needs scratch memory for a block of each rank; else for one block */
} coll_operation_info;

extern const coll_operation_info coll_operations[COLL_OPERATIONS];

/* Sets *OPERATION to the operation NAME. If NAME is unknown, returns MPI_ERR_ARG without calling
 * the error handler; the error text lists the known names. */
int coll_find_operation(const char *name, coll_operation *operation);

/* Returns whether no rank leaves OPERATION before all ranks have entered it. In a neighbourhood
 * collective a rank waits only for its neighbours. */
static inline bool coll_operation_synchronizes(coll_operation operation) {
    return coll_operations[operation].rootless && !coll_operations[operation].neighbors &&
           operation != COLL_OPERATION_SCAN && operation != COLL_OPERATION_EXSCAN;
}

#endif
