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
#include "lib/reduce/reduce.h"
#include "lib/reduce_scatter/reduce_scatter.h"
#include "lib/scan/scan.h"
#include "lib/scatter/scatter.h"
#include "lib/sim/estimate.h"

#include <stdbool.h>
#include <string.h>

#define KB(n) ((size_t)(n) << 10)
enum { WHOLE = 1 << 30 }; /* not in segments */

/*
 * The default algorithms of Open MPI 4.1 and 5.0 for calls with fewer than RANKS ranks and BYTES
 * bytes; 0 means any number. The first row that matches a call counts. Bytes are those of a block
 * if the operation has blocks. Source: coll_tuned_decision_fixed.c; for reduce_scatter the rows of
 * reduce_scatter_block.
 */
static const struct row {
    const char *operation;
    int ranks;
    size_t bytes;
    bool ordered;    /* matches only calls whose operands must be in rank order */
    bool applicable; /* matches only calls that the algorithm can run, by the number of ranks */
    const coll_algorithm *algorithm; /* NULL: a reduce followed by a scatter */
    uint64_t first;                  /* value of its first parameter; 0: the default */
} rows[] = {
    {"bcast", .ranks = 4, .bytes = 32, .algorithm = &coll_bcast_usual_line},
    {"bcast", .ranks = 4, .bytes = 256, .algorithm = &coll_bcast_usual_binary},
    {"bcast", .ranks = 4, .bytes = 512, .algorithm = &coll_bcast_usual_line},
    {"bcast", .ranks = 4, .bytes = KB(1), .algorithm = &coll_bcast_usual_quadrinomial},
    {"bcast", .ranks = 4, .bytes = KB(32), .algorithm = &coll_bcast_usual_flat},
    {"bcast", .ranks = 4, .bytes = KB(128), .algorithm = &coll_bcast_usual_binary},
    {"bcast", .ranks = 4, .bytes = KB(256), .algorithm = &coll_bcast_usual_line},
    {"bcast", .ranks = 4, .bytes = KB(512), .algorithm = &coll_bcast_usual_flat},
    {"bcast", .ranks = 4, .bytes = KB(1024), .algorithm = &coll_bcast_usual_binomial},
    {"bcast", .ranks = 4, .algorithm = &coll_bcast_usual_binary},
    {"bcast", .ranks = 8, .bytes = 64, .algorithm = &coll_bcast_usual_binary},
    {"bcast", .ranks = 8, .bytes = 128, .algorithm = &coll_bcast_usual_binomial},
    {"bcast", .ranks = 8, .bytes = KB(2), .algorithm = &coll_bcast_usual_binary},
    {"bcast", .ranks = 8, .bytes = KB(8), .algorithm = &coll_bcast_usual_binomial},
    {"bcast", .ranks = 8, .bytes = KB(1024), .algorithm = &coll_bcast_usual_flat},
    {"bcast", .ranks = 8, .algorithm = &coll_bcast_usual_line},
    {"bcast", .ranks = 16, .bytes = 8, .algorithm = &coll_bcast_usual_quadrinomial},
    {"bcast", .ranks = 16, .bytes = 64, .algorithm = &coll_bcast_usual_binary},
    {"bcast", .ranks = 16, .bytes = KB(4), .algorithm = &coll_bcast_usual_quadrinomial},
    {"bcast", .ranks = 16, .bytes = KB(16), .algorithm = &coll_bcast_usual_binary},
    {"bcast", .ranks = 16, .bytes = KB(32), .algorithm = &coll_bcast_usual_binomial},
    {"bcast", .ranks = 16, .algorithm = &coll_bcast_usual_flat},
    {"bcast", .ranks = 32, .bytes = KB(4), .algorithm = &coll_bcast_usual_quadrinomial},
    {"bcast", .ranks = 32, .bytes = KB(1024), .algorithm = &coll_bcast_usual_binomial},
    {"bcast", .ranks = 32, .algorithm = &coll_bcast_scatter_allgather},
    {"bcast", .ranks = 64, .bytes = KB(2), .algorithm = &coll_bcast_usual_binomial},
    {"bcast", .ranks = 64, .algorithm = &coll_bcast_usual_quadrinomial},
    {"bcast", .ranks = 128, .algorithm = &coll_bcast_usual_quadrinomial},
    {"bcast", .ranks = 256, .bytes = KB(16), .algorithm = &coll_bcast_usual_binary},
    {"bcast", .ranks = 256, .bytes = KB(32), .algorithm = &coll_bcast_linear},
    {"bcast", .ranks = 256, .bytes = KB(64), .algorithm = &coll_bcast_usual_binary},
    {"bcast", .ranks = 256, .algorithm = &coll_bcast_usual_quadrinomial},
    {"bcast", .ranks = 1024, .algorithm = &coll_bcast_usual_quadrinomial},
    {"bcast", .ranks = 2048, .bytes = KB(512), .algorithm = &coll_bcast_usual_quadrinomial},
    {"bcast", .ranks = 2048, .algorithm = &coll_bcast_scatter_allgather},
    {"bcast", .bytes = KB(256), .algorithm = &coll_bcast_usual_quadrinomial},
    {"bcast", .algorithm = &coll_bcast_scatter_allgather},
    /* window=1 is Open MPI's linear_sync, in which the root asks one rank after the other. */
    {"gather", .ranks = 4, .bytes = KB(32), .algorithm = &coll_gather_binomial, .first = WHOLE},
    {"gather", .ranks = 4, .bytes = KB(64), .algorithm = &coll_gather_linear},
    {"gather", .ranks = 4, .bytes = KB(128), .algorithm = &coll_gather_binomial, .first = WHOLE},
    {"gather", .ranks = 4, .algorithm = &coll_gather_window, .first = 1},
    {"gather", .ranks = 8, .bytes = KB(1), .algorithm = &coll_gather_binomial, .first = WHOLE},
    {"gather", .ranks = 8, .bytes = KB(8), .algorithm = &coll_gather_linear},
    {"gather", .ranks = 8, .bytes = KB(32), .algorithm = &coll_gather_binomial, .first = WHOLE},
    {"gather", .ranks = 8, .bytes = KB(256), .algorithm = &coll_gather_linear},
    {"gather", .ranks = 8, .algorithm = &coll_gather_window, .first = 1},
    {"gather", .ranks = 256, .algorithm = &coll_gather_binomial, .first = WHOLE},
    {"gather", .ranks = 512, .bytes = KB(2), .algorithm = &coll_gather_binomial, .first = WHOLE},
    {"gather", .ranks = 512, .bytes = KB(8), .algorithm = &coll_gather_linear},
    {"gather", .algorithm = &coll_gather_binomial, .first = WHOLE},
    {"allreduce", .ordered = true, .ranks = 4, .bytes = KB(128),
     .algorithm = &coll_allreduce_recursive_doubling, .first = WHOLE},
    {"allreduce", .ordered = true, .ranks = 4, .algorithm = &coll_allreduce_binomial},
    {"allreduce", .ordered = true, .ranks = 8, .algorithm = &coll_allreduce_recursive_doubling,
     .first = WHOLE},
    {"allreduce", .ordered = true, .ranks = 16, .bytes = KB(1024),
     .algorithm = &coll_allreduce_recursive_doubling, .first = WHOLE},
    {"allreduce", .ordered = true, .ranks = 16, .algorithm = &coll_allreduce_binomial},
    {"allreduce", .ordered = true, .ranks = 128, .algorithm = &coll_allreduce_recursive_doubling,
     .first = WHOLE},
    {"allreduce", .ordered = true, .ranks = 256, .bytes = KB(128),
     .algorithm = &coll_allreduce_binomial},
    {"allreduce", .ordered = true, .ranks = 256, .bytes = KB(512),
     .algorithm = &coll_allreduce_recursive_doubling, .first = WHOLE},
    {"allreduce", .ordered = true, .ranks = 256, .algorithm = &coll_allreduce_binomial},
    {"allreduce", .ordered = true, .ranks = 512, .bytes = KB(4),
     .algorithm = &coll_allreduce_binomial},
    {"allreduce", .ordered = true, .ranks = 512, .bytes = KB(512),
     .algorithm = &coll_allreduce_recursive_doubling, .first = WHOLE},
    {"allreduce", .ordered = true, .ranks = 512, .algorithm = &coll_allreduce_binomial},
    {"allreduce", .ordered = true, .bytes = KB(2), .algorithm = &coll_allreduce_binomial},
    {"allreduce", .ordered = true, .algorithm = &coll_allreduce_recursive_doubling, .first = WHOLE},
    {"allreduce", .ranks = 4, .bytes = KB(4), .algorithm = &coll_allreduce_recursive_doubling},
    {"allreduce", .ranks = 4, .bytes = KB(8), .algorithm = &coll_allreduce_ring},
    {"allreduce", .ranks = 4, .bytes = KB(16), .algorithm = &coll_allreduce_recursive_doubling},
    {"allreduce", .ranks = 4, .bytes = KB(256), .algorithm = &coll_allreduce_ring},
    {"allreduce", .ranks = 4, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {"allreduce", .ranks = 16, .bytes = KB(8), .algorithm = &coll_allreduce_recursive_doubling},
    {"allreduce", .ranks = 16, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {"allreduce", .ranks = 32, .bytes = KB(4), .algorithm = &coll_allreduce_recursive_doubling},
    {"allreduce", .ranks = 32, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {"allreduce", .ranks = 64, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {"allreduce", .ranks = 128, .bytes = KB(256), .algorithm = &coll_allreduce_recursive_doubling,
     .first = WHOLE},
    {"allreduce", .ranks = 128, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {"allreduce", .ranks = 256, .bytes = KB(128), .algorithm = &coll_allreduce_binomial},
    {"allreduce", .ranks = 256, .bytes = KB(256), .algorithm = &coll_allreduce_recursive_doubling,
     .first = WHOLE},
    {"allreduce", .ranks = 256, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {"allreduce", .ranks = 512, .bytes = KB(4), .algorithm = &coll_allreduce_binomial},
    {"allreduce", .ranks = 512, .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {"allreduce", .bytes = KB(2), .algorithm = &coll_allreduce_binomial},
    {"allreduce", .bytes = KB(16), .algorithm = &coll_allreduce_recursive_doubling},
    {"allreduce", .algorithm = &coll_allreduce_halving, .first = WHOLE},
    {"reduce", .ordered = true, .ranks = 8, .algorithm = &coll_reduce_usual_flat},
    {"reduce", .ordered = true, .ranks = 16, .bytes = KB(1),
     .algorithm = &coll_reduce_usual_binary},
    {"reduce", .ordered = true, .ranks = 16, .bytes = KB(8), .algorithm = &coll_reduce_usual_flat},
    {"reduce", .ordered = true, .ranks = 16, .bytes = KB(16),
     .algorithm = &coll_reduce_usual_binary},
    {"reduce", .ordered = true, .ranks = 16, .bytes = KB(256),
     .algorithm = &coll_reduce_usual_flat},
    {"reduce", .ordered = true, .algorithm = &coll_reduce_usual_binary},
    {"reduce", .ranks = 4, .bytes = KB(256), .algorithm = &coll_reduce_usual_flat},
    {"reduce", .ranks = 4, .algorithm = &coll_reduce_usual_line},
    {"reduce", .ranks = 8, .bytes = KB(4), .algorithm = &coll_reduce_usual_binary},
    {"reduce", .ranks = 8, .bytes = KB(64), .algorithm = &coll_reduce_usual_line},
    {"reduce", .ranks = 8, .bytes = KB(256), .algorithm = &coll_reduce_binomial, .first = WHOLE},
    {"reduce", .ranks = 8, .bytes = KB(512), .algorithm = &coll_reduce_usual_flat},
    {"reduce", .ranks = 8, .bytes = KB(1024), .algorithm = &coll_reduce_binomial, .first = WHOLE},
    {"reduce", .ranks = 8, .algorithm = &coll_reduce_usual_flat},
    {"reduce", .ranks = 16, .bytes = KB(8), .algorithm = &coll_reduce_usual_binary},
    {"reduce", .ranks = 32, .bytes = KB(4), .algorithm = &coll_reduce_usual_binary},
    {"reduce", .algorithm = &coll_reduce_binomial, .first = WHOLE},
    {"reduce_scatter", .ordered = true},
    {"reduce_scatter", .ranks = 4, .bytes = KB(128),
     .algorithm = &coll_reduce_scatter_usual_butterfly},
    {"reduce_scatter", .ranks = 4},
    {"reduce_scatter", .ranks = 8, .bytes = KB(1024),
     .algorithm = &coll_reduce_scatter_usual_halving},
    {"reduce_scatter", .ranks = 8},
    {"reduce_scatter", .ranks = 32, .bytes = KB(512),
     .algorithm = &coll_reduce_scatter_usual_halving},
    {"reduce_scatter", .ranks = 16, .bytes = KB(4096)},
    {"reduce_scatter", .ranks = 32, .bytes = KB(2048)},
    {"reduce_scatter", .ranks = 32, .algorithm = &coll_reduce_scatter_usual_halving},
    {"reduce_scatter", .bytes = KB(64), .algorithm = &coll_reduce_scatter_usual_butterfly},
    {"reduce_scatter", .bytes = KB(256)},
    {"reduce_scatter", .algorithm = &coll_reduce_scatter_usual_butterfly},
    /* If the number of ranks is not a power of two, bruck runs instead of doubling; if it is odd,
     * ring instead of neighbors. */
    {"allgather", .ranks = 32, .applicable = true, .algorithm = &coll_allgather_usual_doubling},
    {"allgather", .ranks = 32, .algorithm = &coll_allgather_bruck, .first = 2},
    {"allgather", .ranks = 64, .bytes = KB(1), .applicable = true,
     .algorithm = &coll_allgather_usual_doubling},
    {"allgather", .ranks = 64, .bytes = KB(1), .algorithm = &coll_allgather_bruck, .first = 2},
    {"allgather", .bytes = 512, .applicable = true, .algorithm = &coll_allgather_usual_doubling},
    {"allgather", .bytes = 512, .algorithm = &coll_allgather_bruck, .first = 2},
    {"allgather", .ranks = 128, .bytes = KB(64), .applicable = true,
     .algorithm = &coll_allgather_usual_neighbors},
    {"allgather", .ranks = 128, .algorithm = &coll_allgather_ring, .first = WHOLE},
    {"allgather", .bytes = KB(128), .applicable = true,
     .algorithm = &coll_allgather_usual_neighbors},
    {"allgather", .algorithm = &coll_allgather_ring, .first = WHOLE},
    {"alltoall", .ranks = 16, .algorithm = &coll_alltoall_linear, .first = WHOLE},
    {"alltoall", .ranks = 64, .bytes = 512, .algorithm = &coll_alltoall_bruck, .first = 2},
    {"alltoall", .ranks = 64, .algorithm = &coll_alltoall_linear, .first = WHOLE},
    {"alltoall", .ranks = 512, .bytes = KB(1), .algorithm = &coll_alltoall_bruck, .first = 2},
    {"alltoall", .bytes = 512, .algorithm = &coll_alltoall_bruck, .first = 2},
    {"alltoall", .algorithm = &coll_alltoall_linear, .first = WHOLE},
    {"scatter", .ranks = 4, .algorithm = &coll_scatter_straight},
    {"scatter", .ranks = 8, .bytes = KB(2), .algorithm = &coll_scatter_binomial},
    {"scatter", .ranks = 8, .bytes = KB(4), .algorithm = &coll_scatter_straight},
    {"scatter", .ranks = 8, .bytes = KB(8), .algorithm = &coll_scatter_binomial},
    {"scatter", .ranks = 8, .algorithm = &coll_scatter_straight},
    {"scatter", .ranks = 32, .bytes = KB(16), .algorithm = &coll_scatter_binomial},
    {"scatter", .bytes = 512, .algorithm = &coll_scatter_binomial},
    {"scatter", .ranks = 64, .bytes = KB(8), .algorithm = &coll_scatter_straight},
    {"scatter", .ranks = 64, .bytes = KB(16), .algorithm = &coll_scatter_binomial},
    {"scatter", .algorithm = &coll_scatter_straight},
    {"barrier", .algorithm = &coll_barrier_dissemination, .first = 2},
    {"scan", .algorithm = &coll_scan_linear, .first = WHOLE},
    {"exscan", .algorithm = &coll_exscan_linear, .first = WHOLE},
};

static bool fits(const struct row *row, const coll_shape *call) {
    return strcmp(row->operation, call->operation) == 0 &&
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
    return strcmp(call->operation, "alltoall") == 0 && !priced ? 7.0 / 6 : 1;
}

/* Returns the estimate of a reduce of all blocks of CALL to rank 0, and then a scatter. */
static double reduce_and_scatter(const coll_shape *call) {
    coll_shape reduce = *call, scatter = *call;
    reduce.operation = "reduce";
    reduce.sides = coll_operations[COLL_OPERATION_REDUCE].sides;
    reduce.bytes = call->bytes * (size_t)call->topo->ranks;
    scatter.operation = "scatter";
    scatter.sides = coll_operations[COLL_OPERATION_SCATTER].sides;
    scatter.element = 0;
    reduce.root = scatter.root = 0;
    return coll_native_estimate(&reduce) + coll_native_estimate(&scatter);
}

double coll_native_estimate(const coll_shape *call) {
    const struct row *row = rows;
    coll_shape by_rank = *call;
    by_rank.ordered = true;
    if (call->root != COLL_NO_ROOT)
        by_rank.root = 0; /* the first rank of the chain order */
    while (!fits(row, call))
        row++;
    if (!row->algorithm)
        return reduce_and_scatter(call);
    coll_values values = coll_values_default(row->algorithm);
    if (row->first)
        values.at[0] = row->first;
    return loss_factor(call) * coll_estimate(row->algorithm, &by_rank, &values);
}
