/* SPDX-License-Identifier: BSD-3-Clause */
/* libcoll's and MPI's calls of every operation that coll-bench knows. */
#ifndef COLL_TOOLS_BENCH_CALLS_H
#define COLL_TOOLS_BENCH_CALLS_H

#include "tools/bench/operation.h"

operation_call call_bcast, call_gather, call_gatherv, call_allreduce, call_reduce,
    call_reduce_scatter, call_reduce_scatter_block, call_allgather, call_allgatherv, call_alltoall,
    call_alltoallv, call_scatter, call_scatterv, call_barrier, call_scan, call_exscan;

#endif
