/* SPDX-License-Identifier: BSD-3-Clause */
/* COLL_TRACE: rank 0 of the communicator prints one line for each call. */
#ifndef COLL_LIB_TUNING_TRACE_H
#define COLL_LIB_TUNING_TRACE_H

#include "lib/base/comm.h"
#include "lib/tuning/select.h"

#include <stddef.h>

/* Prints a call to stderr if COMM is traced: operation, bytes, ranks, nodes, choice, why, predicted
 * and measured seconds. */
void coll_trace(const coll_comm *comm, const char *operation, const coll_shape *call, size_t bytes,
                const coll_choice *choice, double seconds);

#endif
