/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "tools/bench/operation.h"

#include "tools/bench/calls.h"
#include "tools/bench/data.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- Amounts between ranks --- */

static size_t element_of(const operation *op) {
    return op->reduces ? sizeof(float) : 1;
}

/*
 * Returns the number of elements that go from one rank to another in an uneven operation whose
 * average block has EVEN elements. One rank other than the root has half of all data to or from the
 * root, and the other ranks share the rest. If both input and output are blocks, the number is
 * alternately half a block and one and a half.
 */
static size_t uneven_amount(const operation_run *run, size_t even, int from, int to) {
    const operation *op = run->operation;
    if (op->in == OPERATION_BLOCKS && op->out == OPERATION_BLOCKS)
        return (from + to) % 2 ? even + even / 2 : even - even / 2;
    int rank = op->in == OPERATION_BLOCKS ? to : from, others = run->ranks - 2;
    size_t all = even * (size_t)(run->ranks - 1);
    size_t share = others > 0 ? all / 2 / (size_t)others : 0;
    if (rank == run->root)
        return even;
    return rank == (run->root + run->ranks / 2) % run->ranks ? all - share * (size_t)others : share;
}

/* Returns the number of elements that go from one rank to another. */
static size_t elements_between(const operation_run *run, int from, int to) {
    size_t even = run->bytes / element_of(run->operation);
    return run->operation->uneven ? uneven_amount(run, even, from, to) : even;
}

/* --- Bytes over the bottleneck, a host's link --- */

static size_t moves_all(const operation_run *run) {
    return run->bytes;
}

/* Returns the number of elements that RANK sends to other ranks if the input is blocks, or else
 * receives from them. */
static size_t elements_at(const operation_run *run, int rank) {
    bool leave = run->operation->in == OPERATION_BLOCKS;
    size_t all = 0;
    for (int other = 0; other < run->ranks; other++)
        if (other != rank)
            all += leave ? elements_between(run, rank, other) : elements_between(run, other, rank);
    return all;
}

/* Returns the bytes at the root, or at the busiest rank if there is no root. */
static size_t moves_blocks(const operation_run *run) {
    const operation *op = run->operation;
    bool differ = op->uneven && !op->root_in && !op->root_out;
    size_t most = elements_at(run, run->root);
    for (int rank = 0; rank < run->ranks && differ; rank++) {
        size_t own = elements_at(run, rank);
        most = own > most ? own : most;
    }
    return most * element_of(op);
}

/* A reduce-scatter moves all data but a rank's share over its link; the allgather that follows
 * moves as much again. */
static size_t moves_twice(const operation_run *run) {
    return (size_t)(2 * (double)run->bytes * (run->ranks - 1) / run->ranks);
}

static size_t moves_nothing(const operation_run *run) {
    (void)run;
    return 0;
}

/* --- The table --- */

/* The positions in these lists are the algorithm numbers of Open MPI 4.1's tuned component. */
#define FORCED(operation, ...)                                                                     \
    static const operation_forced ompi_##operation[] = {__VA_ARGS__, {.name = NULL}}
#define PLAIN(algorithm)                                                                           \
    { .name = #algorithm }
#define SEGMENTED(algorithm)                                                                       \
    { .name = #algorithm, .segmented = true }
#define FOR_TWO                                                                                    \
    { .name = "two_proc", .for_two = true }

FORCED(bcast, PLAIN(linear), SEGMENTED(chain), SEGMENTED(pipeline), SEGMENTED(split_binary),
       SEGMENTED(binary), SEGMENTED(binomial), SEGMENTED(knomial), PLAIN(scatter_allgather),
       PLAIN(scatter_allgather_ring));
FORCED(gather, PLAIN(linear), PLAIN(binomial), SEGMENTED(linear_sync));
FORCED(scatter, PLAIN(linear), PLAIN(binomial), PLAIN(linear_nb));
FORCED(allreduce, PLAIN(linear), PLAIN(nonoverlapping), PLAIN(recursive_doubling), PLAIN(ring),
       SEGMENTED(segmented_ring), PLAIN(rabenseifner));
FORCED(reduce, PLAIN(linear), SEGMENTED(chain), SEGMENTED(pipeline), SEGMENTED(binary),
       SEGMENTED(binomial), SEGMENTED(in_order_binary), PLAIN(rabenseifner));
FORCED(reduce_scatter, PLAIN(nonoverlapping), PLAIN(recursive_halving), PLAIN(ring),
       PLAIN(butterfly));
FORCED(reduce_scatter_block, PLAIN(linear), PLAIN(recursive_doubling), PLAIN(recursive_halving),
       PLAIN(butterfly));
FORCED(allgather, PLAIN(linear), PLAIN(bruck), PLAIN(recursive_doubling), PLAIN(ring),
       PLAIN(neighbor), FOR_TWO);
FORCED(allgatherv, PLAIN(default), PLAIN(bruck), PLAIN(ring), PLAIN(neighbor), FOR_TWO);
FORCED(alltoall, PLAIN(linear), PLAIN(pairwise), PLAIN(bruck), PLAIN(linear_sync), FOR_TWO);
FORCED(alltoallv, PLAIN(linear), PLAIN(pairwise));
FORCED(barrier, PLAIN(linear), PLAIN(double_ring), PLAIN(recursive_doubling), PLAIN(bruck), FOR_TWO,
       PLAIN(tree));
FORCED(scan, PLAIN(linear), PLAIN(recursive_doubling));
static const operation_forced none[] = {{.name = NULL}};

#define NAMED(operation, what)                                                                     \
    .name = #operation, .library = #what, .nonblocking = "i" #operation, .call = call_##operation
#define BLOCKS .fill = data_fill_blocks, .verify = data_verify_blocks, .moved = moves_blocks
#define SUMS(kind)                                                                                 \
    .fill = data_fill_sums, .verify = data_verify_##kind, .reduces = true, .out = OPERATION_ONE

static const operation operations[] = {
    {NAMED(bcast, bcast), .forced = ompi_bcast, .out = OPERATION_ONE, .moved = moves_all,
     .fill = data_fill_one, .verify = data_verify_one, .han = true, .adapt = true},
    {NAMED(gather, gather), .forced = ompi_gather, BLOCKS, .in = OPERATION_ONE,
     .out = OPERATION_BLOCKS, .root_out = true, .wire_to_root = true, .han = true},
    {NAMED(gatherv, gather), .unknown = true, .forced = none, BLOCKS, .in = OPERATION_ONE,
     .out = OPERATION_BLOCKS, .root_out = true, .wire_to_root = true, .uneven = true},
    {NAMED(allreduce, allreduce), .forced = ompi_allreduce, SUMS(sum), .in = OPERATION_ONE,
     .moved = moves_twice, .han = true},
    {NAMED(reduce, reduce), .forced = ompi_reduce, SUMS(sum), .in = OPERATION_ONE,
     .moved = moves_all, .root_out = true, .wire_to_root = true, .han = true, .adapt = true},
    {NAMED(reduce_scatter, reduce_scatter), .forced = ompi_reduce_scatter, SUMS(sum),
     .in = OPERATION_BLOCKS, .moved = moves_blocks, .uneven = true},
    {NAMED(reduce_scatter_block, reduce_scatter), .forced = ompi_reduce_scatter_block, SUMS(sum),
     .in = OPERATION_BLOCKS, .moved = moves_blocks},
    {NAMED(allgather, allgather), .forced = ompi_allgather, BLOCKS, .in = OPERATION_ONE,
     .out = OPERATION_BLOCKS, .han = true},
    {NAMED(allgatherv, allgather), .forced = ompi_allgatherv, BLOCKS, .in = OPERATION_ONE,
     .out = OPERATION_BLOCKS, .uneven = true},
    {NAMED(alltoall, alltoall), .forced = ompi_alltoall, BLOCKS, .in = OPERATION_BLOCKS,
     .out = OPERATION_BLOCKS},
    {NAMED(alltoallv, alltoall), .unknown = true, .forced = ompi_alltoallv, BLOCKS,
     .in = OPERATION_BLOCKS, .out = OPERATION_BLOCKS, .uneven = true},
    {NAMED(scatter, scatter), .forced = ompi_scatter, BLOCKS, .in = OPERATION_BLOCKS,
     .out = OPERATION_ONE, .root_in = true, .han = true},
    {NAMED(scatterv, scatter), .unknown = true, .forced = none, BLOCKS, .in = OPERATION_BLOCKS,
     .out = OPERATION_ONE, .root_in = true, .uneven = true},
    {NAMED(barrier, barrier), .forced = ompi_barrier, .moved = moves_nothing,
     .fill = data_fill_nothing, .verify = data_verify_nothing},
    {NAMED(scan, scan), .forced = ompi_scan, SUMS(scan), .in = OPERATION_ONE, .moved = moves_all},
    {NAMED(exscan, exscan), .forced = ompi_scan, SUMS(exscan), .in = OPERATION_ONE,
     .moved = moves_all},
};

enum { OPERATIONS = sizeof operations / sizeof *operations };

const char *operation_name(int index) {
    return index >= 0 && index < OPERATIONS ? operations[index].name : NULL;
}

const operation *operation_find(const char *name) {
    for (int i = 0; i < OPERATIONS; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

/* --- Calls --- */

size_t operation_rounded(const operation *op, size_t bytes) {
    size_t element = element_of(op);
    if (op->in == OPERATION_NOTHING && op->out == OPERATION_NOTHING)
        return 0;
    return (bytes + element - 1) / element * element;
}

/* Sets up this rank's input (IN) or output. */
static bool make_part(operation_run *run, operation_part *part, bool in) {
    size_t ranks = (size_t)run->ranks;
    MPI_Aint next = 0;
    part->sizes = malloc(ranks * sizeof *part->sizes);
    part->places = malloc(ranks * sizeof *part->places);
    part->ints = malloc(2 * ranks * sizeof *part->ints);
    if (!part->sizes || !part->places || !part->ints)
        return false;
    for (int rank = 0; rank < run->ranks; rank++) {
        part->sizes[rank] = (MPI_Count)(in ? elements_between(run, run->rank, rank)
                                           : elements_between(run, rank, run->rank));
        part->places[rank] = next;
        part->ints[rank] = (int)part->sizes[rank];
        part->ints[ranks + (size_t)rank] = (int)next;
        next += (MPI_Aint)part->sizes[rank];
    }
    const operation *op = run->operation;
    operation_shape shape = in ? op->in : op->out;
    bool root_only = in ? op->root_in : op->root_out;
    if (shape == OPERATION_BLOCKS)
        part->count = next;
    else if (shape == OPERATION_ONE)
        part->count = (MPI_Count)(in ? elements_between(run, run->rank, run->root)
                                     : elements_between(run, run->root, run->rank));
    if (op->uneven && part->count > run->most)
        run->most = part->count;
    if (root_only && run->rank != run->root)
        part->count = 0;
    return true;
}

bool operation_open(operation_run *run, const operation *op, size_t bytes, int rank, int ranks,
                    int root) {
    enum { ALIGNMENT = 64 };
    *run = (operation_run){.operation = op, .rank = rank, .ranks = ranks, .root = root};
    if (bytes > PTRDIFF_MAX / 4 / (size_t)ranks)
        return false;
    run->bytes = operation_rounded(op, bytes);
    run->most = (MPI_Count)(run->bytes / element_of(op));
    if (!make_part(run, &run->in, true) || !make_part(run, &run->out, false))
        return false;
    size_t out = (size_t)run->out.count * element_of(op),
           in = (size_t)run->in.count * element_of(op);
    /* + 1: input and output have distinct addresses, even if one is empty. */
    out = (out / ALIGNMENT + 1) * ALIGNMENT;
    run->moved = op->moved(run);
    run->room = in + out > run->moved ? in + out : run->moved;
    run->buffer = calloc(run->room + 1, 1);
    run->out.at = run->buffer;
    run->in.at = run->buffer ? run->buffer + out : NULL;
    return run->buffer;
}

size_t operation_moved(const operation *op, size_t bytes, int ranks, int root) {
    return op->moved(
        &(operation_run){.operation = op, .bytes = bytes, .ranks = ranks, .root = root});
}

static void free_part(operation_part *part) {
    free(part->sizes);
    free(part->places);
    free(part->ints);
}

void operation_close(operation_run *run) {
    free(run->buffer);
    free_part(&run->in);
    free_part(&run->out);
}

int operation_ours(const contender *c, const operation_run *run) {
    return run->operation->call(OPERATION_OURS, run, c->comm, NULL);
}

int operation_native(const contender *c, const operation_run *run) {
    operation_request request = {.mpi = MPI_REQUEST_NULL};
    if (!c->nonblocking)
        return run->operation->call(OPERATION_MPI, run, c->comm, NULL);
    int code = run->operation->call(OPERATION_MPI_STARTED, run, c->comm, &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request.mpi, MPI_STATUS_IGNORE) : code;
}
