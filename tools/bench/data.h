/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills the buffers of coll-bench's operations with data and verifies the results. */
#ifndef COLL_TOOLS_BENCH_DATA_H
#define COLL_TOOLS_BENCH_DATA_H

#include "tools/bench/operation.h"

/* For a broadcast. */
void data_fill_one(const operation_run *run);
bool data_verify_one(const operation_run *run);

/* For operations that move blocks. */
void data_fill_blocks(const operation_run *run);
bool data_verify_blocks(const operation_run *run);

/*
 * For reductions of floats: sums over all ranks, over the ranks up to this one, and over the ranks
 * before it.
 */
void data_fill_sums(const operation_run *run);
bool data_verify_sum(const operation_run *run);
bool data_verify_scan(const operation_run *run);
bool data_verify_exscan(const operation_run *run);

/* For operations without data. */
void data_fill_nothing(const operation_run *run);
bool data_verify_nothing(const operation_run *run);

#endif
