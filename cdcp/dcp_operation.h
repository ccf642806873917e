/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers for the collectives that DCPs serve, with the same meaning on every rank. A call is
 * described by a code, which combines its operation and one detail, and a count. Both must be the
 * same on all of its ranks.
 */
#ifndef COLL_CDCP_DCP_OPERATION_H
#define COLL_CDCP_DCP_OPERATION_H

#include <stdint.h>

typedef enum coll_dcp_operation {
    COLL_DCP_ALLREDUCE,      /* detail: operand code (cdcp/operands.h); count: elements */
    COLL_DCP_BCAST,          /* detail: root; count: bytes */
    COLL_DCP_ALLTOALL,       /* count: bytes of a block */
    COLL_DCP_REDUCE_SCATTER, /* equal blocks; detail: operand code; count: elements of a block */
    COLL_DCP_OPERATIONS
} coll_dcp_operation;

/* Details are from 0 to COLL_DCP_DETAILS - 1. */
enum { COLL_DCP_DETAILS = 1 << 24 };

static inline int32_t coll_dcp_code(coll_dcp_operation operation, int detail) {
    return (int32_t)operation * COLL_DCP_DETAILS + detail;
}

static inline coll_dcp_operation coll_dcp_operation_of(int32_t code) {
    return (coll_dcp_operation)(code / COLL_DCP_DETAILS);
}

static inline int coll_dcp_detail_of(int32_t code) {
    return code % COLL_DCP_DETAILS;
}

#endif
