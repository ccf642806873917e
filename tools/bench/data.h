/* What coll-bench's operations move or combine, and whether it arrived. */
#ifndef COLL_TOOLS_BENCH_DATA_H
#define COLL_TOOLS_BENCH_DATA_H

#include "tools/bench/operation.h"

/* A broadcast's. */
void data_fill_one(const operation_run *run);
bool data_verify_one(const operation_run *run);

/* Of operations that move blocks. */
void data_fill_blocks(const operation_run *run);
bool data_verify_blocks(const operation_run *run);

/* Floats that are added: of all ranks, of those up to this one, and of those before it. */
void data_fill_sums(const operation_run *run);
bool data_verify_sum(const operation_run *run);
bool data_verify_scan(const operation_run *run);
bool data_verify_exscan(const operation_run *run);

/* Nothing. */
void data_fill_nothing(const operation_run *run);
bool data_verify_nothing(const operation_run *run);

#endif
