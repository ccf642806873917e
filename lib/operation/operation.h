/* The operations: what the decision layer knows of each. lib/registry.c lists them. */
#ifndef COLL_LIB_OPERATION_OPERATION_H
#define COLL_LIB_OPERATION_OPERATION_H

#include "lib/algorithm/algorithm.h"

typedef enum coll_operation {
    COLL_OPERATION_BCAST,
    COLL_OPERATION_GATHER,
    COLL_OPERATION_AGGREGATE,
    COLL_OPERATIONS
} coll_operation;

typedef struct coll_operation_info {
    const char *name;     /* "bcast" */
    const char *variable; /* "COLL_BCAST" */
    const char *info_key; /* "coll_bcast" */
    const coll_algorithm *const *table;
} coll_operation_info;

extern const coll_algorithm *const coll_bcast_table[];
extern const coll_algorithm *const coll_gather_table[];
extern const coll_algorithm *const coll_aggregate_table[];

extern const coll_operation_info coll_operations[COLL_OPERATIONS];

#endif
