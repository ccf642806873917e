/* What COLL_TRACE prints: one line a call, by rank 0 of the communicator. */
#ifndef COLL_LIB_OPERATION_TRACE_H
#define COLL_LIB_OPERATION_TRACE_H

#include "lib/base/comm.h"
#include "lib/operation/learnt.h"
#include "lib/operation/select.h"

#include <stddef.h>

/* Prints to stderr, where COMM traces: operation, bytes, ranks, choice, why, seconds. */
void coll_trace(const coll_comm *comm, const char *operation, const coll_shape *call, size_t bytes,
                const coll_choice *choice, double seconds);

/* Prints to stderr what was LEARNT, and the errno by which it isn't kept, or 0. */
void coll_trace_learnt(const coll_learnt *learnt, int error);

/* Prints to stderr, where COMM traces: how many nodes, racks and sites there are, and who says so.
 */
void coll_trace_topology(const coll_comm *comm);

#endif
