/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "lib/tuning/ompi_decision_table.h"

#include "lib/algorithm/operations.h"
#include "lib/algorithm/spec.h"
#include "lib/allgather/allgather.h"
#include "lib/allreduce/allreduce.h"
#include "lib/alltoall/alltoall.h"
#include "lib/barrier/barrier.h"
#include "lib/bcast/bcast.h"
#include "lib/gather/gather.h"
#include "lib/neighbor/neighbor.h"
#include "lib/reduce/reduce.h"
#include "lib/reduce_scatter/reduce_scatter.h"
#include "lib/scan/scan.h"
#include "lib/scatter/scatter.h"
#include "lib/sim/estimate.h"

#include <stdbool.h>

#define KB(n) ((size_t)(n) << 10)
enum { WHOLE = 1 << 30 }; /* a segment size: messages are not divided into segments */

/* Short names for the table. */
#define BCAST COLL_OPERATION_BCAST
#define GATHER COLL_OPERATION_GATHER
#define ALLREDUCE COLL_OPERATION_ALLREDUCE
#define REDUCE COLL_OPERATION_REDUCE
#define REDUCE_SCATTER COLL_OPERATION_REDUCE_SCATTER
#define ALLGATHER COLL_OPERATION_ALLGATHER
#define ALLTOALL COLL_OPERATION_ALLTOALL
#define SCATTER COLL_OPERATION_SCATTER
#define BARRIER COLL_OPERATION_BARRIER
#define SCAN COLL_OPERATION_SCAN
#define EXSCAN COLL_OPERATION_EXSCAN

/*
 * The default algorithms of Open MPI 4.1 and 5.0 for calls with fewer than RANKS ranks and fewer
 * than BYTES bytes; 0 means any number. The first row that matches a call counts. Bytes are those
 * of a block if the operation has blocks. Source: coll_tuned_decision_fixed.c; for reduce_scatter
 * the rows of reduce_scatter_block.
 */
static const struct row {
    coll_operation operation;
    int ranks;
    size_t bytes;
    bool ordered;    /* matches only calls whose operands must be in rank order */
    bool applicable; /* matches only calls that the algorithm can run, by the number of ranks */
    const coll_algorithm *algorithm; /* NULL: a reduce followed by a scatter */
    uint64_t first;                  /* value of its first parameter; 0: the default */
} rows[] = {
    {BCAST, .ranks = 4, .bytes = 32, .algorithm = &coll_bcast_usual_line},
    {BCAST, .ranks = 4, .bytes = 256, .algorithm = &coll_bcast_usual_binary},
    {BCAST, .ranks = 4, .bytes = 512, .algorithm = &coll_bcast_usual_line},
    {BCAST, .ranks = 4, .bytes = KB(1), .algorithm = &coll_bcast_usual_quadrinomial},
    {BCAST, .ranks = 4, .bytes = KB(32), .algorithm = &coll_bcast_usual_flat},
    {BCAST, .ranks = 4, .bytes = KB(128), .algorithm = &coll_bcast_usual_binary},
    {BCAST, .ranks = 4, .bytes = KB(256), .algorithm = &coll_bcast_usual_line},
    {BCAST, .ranks = 4, .bytes = KB(512), .algorithm = &coll_bcast_usual_flat},
    {BCAST, .ranks = 4, .bytes = KB(1024), .algorithm = &coll_bcast_usual_binomial},
    {BCAST, .ranks = 4, .algorithm = &coll_bcast_usual_binary},
    {BCAST, .ranks = 8, .bytes = 64, .algorithm = &coll_bcast_usual_binary},
    {BCAST, .ranks = 8, .bytes = 128, .algorithm = &coll_bcast_usual_binomial},
    {BCAST, .ranks = 8, .bytes = KB(2), .algorithm = &coll_bcast_usual_binary},
    {BCAST, .ranks = 8, .bytes = KB(8), .algorithm = &coll_bcast_usual_binomial},
    {BCAST, .ranks = 8, .bytes = KB(1024), .algorithm = &coll_bcast_usual_flat},
    {BCAST, .ranks = 8, .algorithm = &coll_bcast_usual_line},
    {BCAST, .ranks = 16, .bytes = 8, .algorithm = &coll_bcast_usual_quadrinomial},
    {BCAST, .ranks = 16, .bytes = 64, .algorithm = &coll_bcast_usual_binary},
    {BCAST, .ranks = 16, .bytes = KB(4), .algorithm = &coll_bcast_usual_quadrinomial},
    {BCAST, .ranks = 16, .bytes = KB(16), .algorithm = &coll_bcast_usual_binary},
    {BCAST, .ranks = 16, .bytes = KB(32), .algorithm = &coll_bcast_usual_binomial},
    {BCAST, .ranks = 16, .algorithm = &coll_bcast_usual_flat},
    {BCAST, .ranks = 32, .bytes = KB(4), .algorithm = &coll_bcast_usual_quadrinomial},
    {BCAST, .ranks = 32, .bytes = KB(1024), .algorithm = &coll_bcast_usual_binomial},
    {BCAST, .ranks = 32, .algorithm = &coll_bcast_scatter_allgather},
    {BCAST, .ranks = 64, .bytes = KB(2), .algorithm = &coll_bcast_usual_binomial},
    {BCAST, .ranks = 64, .algorithm = &coll_bcast_usual_quadrinomial},
    {BCAST, .ranks = 128, .algorithm = &coll_bcast_usual_quadrinomial},
    {BCAST, .ranks = 256, .bytes = KB(16), .algorithm = &coll_bcast_usual_binary},
    {BCAST, .ranks = 256, .bytes = KB(32), .algorithm = &coll_bcast_linear},
    {BCAST, .ranks = 256, .bytes = KB(64), .algorithm = &coll_bcast_usual_binary},
    {BCAST, .ranks = 256, .algorithm = &coll_bcast_usual_quadrinomial},
    {BCAST, .ranks = 1024, .bytes = KB(16), .algorithm = &coll_bcast_usual_quadrinomial},
    {BCAST, .ranks = 1024, .bytes = KB(32), .algorithm = &coll_bcast_usual_split_binary},
    {BCAST, .ranks = 1024, .algorithm = &coll_bcast_usual_quadrinomial},
    {BCAST, .ranks = 2048, .bytes = KB(512), .algorithm = &coll_bcast_usual_quadrinomial},
    {BCAST, .ranks = 2048, .algorithm = &coll_bcast_scatter_allgather},
    {BCAST, .bytes = KB(256), .algorithm = &coll_bcast_usual_quadrinomial},
    {BCAST, .algorithm = &coll_bcast_scatter_allgather},
    /* window=1 is Open MPI's linear_sync, in which the root asks one rank after the other. */
    {GATHER, .ranks = 4, .bytes = KB(32), .algorithm = &coll_gather_binomial, .first = WHOLE},
    {GATHER, .ranks = 4, .bytes = KB(64), .algorithm = &coll_gather_linear},
    {GATHER, .ranks = 4, .bytes = KB(128), .algorithm = &coll_gather_binomial, .first = WHOLE},
    {GATHER, .ranks = 4, .algorithm = &coll_gather_window, .first = 1},
    {GATHER, .ranks = 8, .bytes = KB(1), .algorithm = &coll_gather_binomial, .first = WHOLE},
    {GATHER, .ranks = 8, .bytes = KB(8), .algorithm = &coll_gather_linear},
    {GATHER, .ranks = 8, .bytes = KB(32), .algorithm = &coll_gather_binomial, .first = WHOLE},
    {GATHER, .ranks = 8, .bytes = KB(256), .algorithm = &coll_gather_linear},
    {GATHER, .ranks = 8, .algorithm = &coll_gather_window, .first = 1},
    {GATHER, .ranks = 256, .algorithm = &coll_gather_binomial, .first = WHOLE},
    {GATHER, .ranks = 512, .bytes = KB(2), .algorithm = &coll_gather_binomial, .first = WHOLE},
    {GATHER, .ranks = 512, .bytes = KB(8), .algorithm = &coll_gather_linear},
    {GATHER, .algorithm = &coll_gather_binomial, .first = WHOLE},
    {ALLREDUCE, .ordered = true, .ranks = 4, .bytes = KB(128),
     .algorithm = &coll_allreduce_recursive_doubling, .first = WHOLE},
    {ALLREDUCE, .ordered = true, .ranks = 4, .algorithm = &coll_allreduce_binomial},
    {ALLREDUCE, .ordered = true, .ranks = 8, .algorithm = &coll_allreduce_recursive_doubling,
     .first = WHOLE},
    {ALLREDUCE, .ordered = true, .ranks = 16, .bytes = KB(1024),
     .algorithm = &coll_allreduce_recursive_doubling, .first = WHOLE},
    {ALLREDUCE, .ordered = true, .ranks = 16, .algorithm = &coll_allreduce_binomial},
    {ALLREDUCE, .ordered = true, .ranks = 128, .algorithm = &coll_allreduce_recursive_doubling,
     .first = WHOLE},
    {ALLREDUCE, .ordered = true, .ranks = 256, .bytes = KB(128),
     .algorithm = &coll_allreduce_binomial},
    {ALLREDUCE, .ordered = true, .ranks = 256, .bytes = KB(512),
     .algorithm = &coll_allreduce_recursive_doubling, .first = WHOLE},
    {ALLREDUCE, .ordered = true, .ranks = 256, .algorithm = &coll_allreduce_binomial},
    {ALLREDUCE, .ordered = true, .ranks = 512, .bytes = KB(4),
     .algorithm = &coll_allreduce_binomial},
    {ALLREDUCE, .ordered = true, .ranks = 512, .bytes = KB(512),
     .algorithm = &coll_allreduce_recursive_doubling, .first = WHOLE},
    {ALLREDUCE, .ordered = true, .ranks = 512, .algorithm = &coll_allreduce_binomial},
    {ALLREDUCE, .ordered = true, .bytes = KB(2), .algorithm = &coll_allreduce_binomial},
    {ALLREDUCE, .ordered = true, .algorithm = &coll_allreduce_recursive_doubling, .first = WHOLE},
    {ALLREDUCE, .ranks = 4, .bytes = KB(4), .algorithm = &coll_allreduce_recursive_doubling},
    {ALLREDUCE, .ranks = 4, .bytes = KB(8), .algorithm = &coll_allreduce_ring},
    {ALLREDUCE, .ranks = 4, .bytes = KB(16), .algorithm = &coll_allreduce_recursive_doubling},
    {ALLREDUCE, .ranks = 4, .bytes = KB(256), .algorithm = &coll_allreduce_ring},
    {ALLREDUCE, .ranks = 4, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {ALLREDUCE, .ranks = 16, .bytes = KB(8), .algorithm = &coll_allreduce_recursive_doubling},
    {ALLREDUCE, .ranks = 16, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {ALLREDUCE, .ranks = 32, .bytes = KB(4), .algorithm = &coll_allreduce_recursive_doubling},
    {ALLREDUCE, .ranks = 32, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {ALLREDUCE, .ranks = 64, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {ALLREDUCE, .ranks = 128, .bytes = KB(256), .algorithm = &coll_allreduce_recursive_doubling,
     .first = WHOLE},
    {ALLREDUCE, .ranks = 128, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {ALLREDUCE, .ranks = 256, .bytes = KB(128), .algorithm = &coll_allreduce_binomial},
    {ALLREDUCE, .ranks = 256, .bytes = KB(256), .algorithm = &coll_allreduce_recursive_doubling,
     .first = WHOLE},
    {ALLREDUCE, .ranks = 256, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {ALLREDUCE, .ranks = 512, .bytes = KB(4), .algorithm = &coll_allreduce_binomial},
    {ALLREDUCE, .ranks = 512, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {ALLREDUCE, .bytes = KB(2), .algorithm = &coll_allreduce_binomial},
    {ALLREDUCE, .bytes = KB(16), .algorithm = &coll_allreduce_recursive_doubling},
    {ALLREDUCE, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {REDUCE, .ordered = true, .ranks = 8, .algorithm = &coll_reduce_usual_flat},
    {REDUCE, .ordered = true, .ranks = 16, .bytes = KB(1),
     .algorithm = &coll_reduce_usual_in_order},
    {REDUCE, .ordered = true, .ranks = 16, .bytes = KB(8), .algorithm = &coll_reduce_usual_flat},
    {REDUCE, .ordered = true, .ranks = 16, .bytes = KB(16),
     .algorithm = &coll_reduce_usual_in_order},
    {REDUCE, .ordered = true, .ranks = 16, .bytes = KB(256), .algorithm = &coll_reduce_usual_flat},
    {REDUCE, .ordered = true, .algorithm = &coll_reduce_usual_in_order},
    {REDUCE, .ranks = 4, .bytes = KB(256), .algorithm = &coll_reduce_usual_flat},
    {REDUCE, .ranks = 4, .algorithm = &coll_reduce_usual_line},
    {REDUCE, .ranks = 8, .bytes = KB(4), .algorithm = &coll_reduce_usual_binary},
    {REDUCE, .ranks = 8, .bytes = KB(64), .algorithm = &coll_reduce_usual_line},
    {REDUCE, .ranks = 8, .bytes = KB(256), .algorithm = &coll_reduce_binomial, .first = WHOLE},
    {REDUCE, .ranks = 8, .bytes = KB(512), .algorithm = &coll_reduce_usual_flat},
    {REDUCE, .ranks = 8, .bytes = KB(1024), .algorithm = &coll_reduce_binomial, .first = WHOLE},
    {REDUCE, .ranks = 8, .algorithm = &coll_reduce_usual_flat},
    {REDUCE, .ranks = 16, .bytes = KB(8), .algorithm = &coll_reduce_usual_binary},
    {REDUCE, .ranks = 32, .bytes = KB(4), .algorithm = &coll_reduce_usual_binary},
    {REDUCE, .ranks = 256, .algorithm = &coll_reduce_binomial, .first = WHOLE},
    {REDUCE, .ranks = 512, .bytes = KB(8), .algorithm = &coll_reduce_binomial, .first = WHOLE},
    {REDUCE, .ranks = 512, .bytes = KB(16), .algorithm = &coll_reduce_usual_in_order},
    {REDUCE, .algorithm = &coll_reduce_binomial, .first = WHOLE},
    {REDUCE_SCATTER, .ordered = true},
    {REDUCE_SCATTER, .ranks = 4, .bytes = KB(128),
     .algorithm = &coll_reduce_scatter_usual_butterfly},
    {REDUCE_SCATTER, .ranks = 4},
    {REDUCE_SCATTER, .ranks = 8, .bytes = KB(1024),
     .algorithm = &coll_reduce_scatter_usual_halving},
    {REDUCE_SCATTER, .ranks = 8},
    {REDUCE_SCATTER, .ranks = 32, .bytes = KB(512),
     .algorithm = &coll_reduce_scatter_usual_halving},
    {REDUCE_SCATTER, .ranks = 16, .bytes = KB(4096)},
    {REDUCE_SCATTER, .ranks = 32, .bytes = KB(2048)},
    {REDUCE_SCATTER, .ranks = 32, .algorithm = &coll_reduce_scatter_usual_halving},
    {REDUCE_SCATTER, .bytes = KB(64), .algorithm = &coll_reduce_scatter_usual_butterfly},
    {REDUCE_SCATTER, .bytes = KB(256)},
    {REDUCE_SCATTER, .algorithm = &coll_reduce_scatter_usual_butterfly},
    /* If the number of ranks is not a power of two, bruck runs instead of doubling; if it is odd,
     * ring instead of neighbors. */
    {ALLGATHER, .ranks = 32, .applicable = true, .algorithm = &coll_allgather_usual_doubling},
    {ALLGATHER, .ranks = 32, .algorithm = &coll_allgather_bruck, .first = 2},
    {ALLGATHER, .ranks = 64, .bytes = KB(1), .applicable = true,
     .algorithm = &coll_allgather_usual_doubling},
    {ALLGATHER, .ranks = 64, .bytes = KB(1), .algorithm = &coll_allgather_bruck, .first = 2},
    {ALLGATHER, .bytes = 512, .applicable = true, .algorithm = &coll_allgather_usual_doubling},
    {ALLGATHER, .bytes = 512, .algorithm = &coll_allgather_bruck, .first = 2},
    {ALLGATHER, .ranks = 128, .bytes = KB(64), .applicable = true,
     .algorithm = &coll_allgather_usual_neighbors},
    {ALLGATHER, .ranks = 128, .algorithm = &coll_allgather_ring, .first = WHOLE},
    {ALLGATHER, .bytes = KB(128), .applicable = true, .algorithm = &coll_allgather_usual_neighbors},
    {ALLGATHER, .algorithm = &coll_allgather_ring, .first = WHOLE},
    {ALLTOALL, .ranks = 16, .algorithm = &coll_alltoall_linear, .first = WHOLE},
    {ALLTOALL, .ranks = 64, .bytes = 512, .algorithm = &coll_alltoall_bruck, .first = 2},
    {ALLTOALL, .ranks = 64, .algorithm = &coll_alltoall_linear, .first = WHOLE},
    {ALLTOALL, .ranks = 512, .bytes = KB(1), .algorithm = &coll_alltoall_bruck, .first = 2},
    {ALLTOALL, .bytes = 512, .algorithm = &coll_alltoall_bruck, .first = 2},
    {ALLTOALL, .algorithm = &coll_alltoall_linear, .first = WHOLE},
    {SCATTER, .ranks = 4, .algorithm = &coll_scatter_straight, .first = WHOLE},
    {SCATTER, .ranks = 8, .bytes = KB(2), .algorithm = &coll_scatter_binomial},
    {SCATTER, .ranks = 8, .bytes = KB(4), .algorithm = &coll_scatter_straight, .first = WHOLE},
    {SCATTER, .ranks = 8, .bytes = KB(8), .algorithm = &coll_scatter_binomial},
    {SCATTER, .ranks = 8, .algorithm = &coll_scatter_straight, .first = WHOLE},
    {SCATTER, .ranks = 32, .bytes = KB(16), .algorithm = &coll_scatter_binomial},
    {SCATTER, .bytes = 512, .algorithm = &coll_scatter_binomial},
    {SCATTER, .ranks = 64, .bytes = KB(8), .algorithm = &coll_scatter_straight, .first = WHOLE},
    {SCATTER, .ranks = 64, .bytes = KB(16), .algorithm = &coll_scatter_binomial},
    {SCATTER, .algorithm = &coll_scatter_straight, .first = WHOLE},
    {BARRIER, .ranks = 4, .algorithm = &coll_barrier_usual_doubling},
    {BARRIER, .ranks = 8, .algorithm = &coll_barrier_usual_linear},
    {BARRIER, .ranks = 64, .algorithm = &coll_barrier_usual_doubling},
    {BARRIER, .algorithm = &coll_barrier_dissemination, .first = 2},
    {SCAN, .algorithm = &coll_scan_linear, .first = WHOLE},
    {EXSCAN, .algorithm = &coll_scan_linear, .first = WHOLE},
};

static bool fits(const struct row *row, const coll_shape *call) {
    return row->operation == call->operation &&
           (row->ranks == 0 || call->topo->ranks < row->ranks) &&
           (row->bytes == 0 || call->bytes < row->bytes) && (!row->ordered || call->ordered) &&
           (!row->applicable || row->algorithm->applicable(call));
}

/*
 * Returns a factor for packets lost in front of uplinks, which estimates include only if the size
 * of buffers is known. In an alltoall all ranks send at once; on 5 racks of 5 hosts the loss cost a
 * sixth of the time and more.
 */
static double loss_factor(const coll_shape *call) {
    const coll_profile *costs = coll_shape_costs(call);
    bool priced = call->topo->racks == 1 || costs->level[COLL_LEVEL_SITE].buffer > 0;
    return call->operation == COLL_OPERATION_ALLTOALL && !priced ? 7.0 / 6 : 1;
}

/* Returns the estimate of a reduce of all blocks of CALL to rank 0, and then a scatter. */
static double reduce_and_scatter(const coll_shape *call) {
    coll_shape reduce = *call, scatter = *call;
    reduce.operation = COLL_OPERATION_REDUCE;
    reduce.sides = coll_operations[COLL_OPERATION_REDUCE].sides;
    reduce.bytes = call->bytes * (size_t)call->topo->ranks;
    scatter.operation = COLL_OPERATION_SCATTER;
    scatter.sides = coll_operations[COLL_OPERATION_SCATTER].sides;
    scatter.element = 0;
    reduce.root = scatter.root = 0;
    return coll_native_estimate(&reduce) + coll_native_estimate(&scatter);
}

coll_native_default coll_native_find(const coll_shape *call) {
    const struct row *row = rows;
    while (!fits(row, call))
        row++;
    coll_native_default found = {.algorithm = row->algorithm, .factor = loss_factor(call)};
    if (!row->algorithm)
        return found;
    found.values = coll_values_default(row->algorithm);
    if (row->first)
        found.values.at[0] = row->first;
    found.passes =
        row->algorithm == &coll_allgather_ring ? COLL_PASSES_EACH_RANK : row->algorithm->passes;
    return found;
}

double coll_native_estimate(const coll_shape *call) {
    if (coll_operations[call->operation].neighbors) {
        const coll_values usual = coll_values_default(&coll_neighbor_linear);
        return coll_neighbor_linear.predict(call, &usual);
    }
    const coll_native_default found = coll_native_find(call);
    coll_shape by_rank = *call;
    by_rank.ordered = true;
    if (call->root != COLL_NO_ROOT)
        by_rank.root = 0; /* the first rank of the chain order */
    return found.algorithm ? found.factor * coll_estimate(found.algorithm, &by_rank, &found.values)
                           : reduce_and_scatter(call);
}
