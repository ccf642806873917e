/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * native: the MPI library's own gather.
 *
 * The data is passed as bytes, in place if possible, because MPI libraries that split blocks by
 * elements fail when the root and the others describe the same bytes with different types (as their
 * broadcasts do, Open MPI issues 1763 and 10523). If the root's blocks are not one run of bytes, or
 * have more than COLL_NATIVE_MOST bytes in all, they are gathered in segments through bounded
 * memory.
 *
 * Blocks of different lengths are gathered by MPI_Gatherv if each is contiguous at the root, and
 * their lengths and displacements fit MPI_Gatherv's ints; otherwise by the algorithm "linear". The
 * ranks agree on this.
 *
 * Cost: that of the algorithm in lib/tuning/ompi_decision_table.h that represents the MPI
 * library's.
 */
#include "config.h"

#include "lib/gather/gather.h"

#include "lib/base/agree.h"

#include <limits.h>

/* Returns the bytes of the segments in which all ranks pass their blocks. */
static size_t segment_of(const coll_exec_args *call) {
    size_t most = COLL_NATIVE_MOST / (size_t)call->comm->ranks, bytes = call->args.shape->bytes;
    return most < 1 ? 1 : bytes < most ? bytes : most;
}

/* At the root, writes a segment of every rank to its block. */
static void store_segments(const coll_exec_args *call, size_t from, size_t length,
                           const char *segments) {
    for (int rank = 0; rank < call->comm->ranks; rank++) {
        coll_data block = coll_blocks_at(call->args.blocks, rank);
        if (rank != call->args.shape->root)
            coll_data_write(&block, from, length, segments + (size_t)rank * length);
    }
}

/* Calls the MPI library's gather: the blocking one, unless the wait needs a timeout or sleeps. */
static int call_gather(const coll_exec_args *call, const void *mine, int length, void *into) {
    coll_comm *comm = call->comm;
    if (coll_wait_as_mpi(&comm->wait))
        return PMPI_Gather(mine, length, MPI_BYTE, into, length, MPI_BYTE, call->args.shape->root,
                           comm->private);
    MPI_Request request;
    int code = PMPI_Igather(mine, length, MPI_BYTE, into, length, MPI_BYTE, call->args.shape->root,
                            comm->private, &request);
    return code == MPI_SUCCESS ? coll_wait_native(&comm->wait, &request, "MPI_Gather") : code;
}

static int call_gatherv(const coll_exec_args *call, const void *mine, int count, MPI_Datatype type,
                        void *into, const int counts[], const int places[]) {
    coll_comm *comm = call->comm;
    if (coll_wait_as_mpi(&comm->wait))
        return PMPI_Gatherv(mine, count, type, into, counts, places, MPI_BYTE,
                            call->args.shape->root, comm->private);
    MPI_Request request;
    int code = PMPI_Igatherv(mine, count, type, into, counts, places, MPI_BYTE,
                             call->args.shape->root, comm->private, &request);
    return code == MPI_SUCCESS ? coll_wait_native(&comm->wait, &request, "MPI_Gatherv") : code;
}

static int run_even(const coll_exec_args *call) {
    const coll_blocks *blocks = call->args.blocks; /* NULL unless this rank is the root */
    const size_t bytes = call->args.shape->bytes, segment = segment_of(call);
    void *scratch;
    int code = coll_comm_scratch(call->comm, segment * (size_t)call->comm->ranks, &scratch);
    if (code == MPI_SUCCESS && blocks && segment == bytes && coll_blocks_in_a_row(blocks))
        return call_gather(call, MPI_IN_PLACE, (int)bytes,
                           coll_data_target(&blocks->longest, 0, NULL));
    for (size_t from = 0; from < bytes && code == MPI_SUCCESS; from += segment) {
        const size_t length = coll_least(bytes - from, segment);
        code = blocks ? call_gather(call, MPI_IN_PLACE, (int)length, scratch)
                      : call_gather(call, coll_data_read(call->data, from, length, scratch),
                                    (int)length, NULL);
        if (code == MPI_SUCCESS && blocks)
            store_segments(call, from, length, scratch);
    }
    return code;
}

/* Sets COUNTS and PLACES to the lengths and displacements of the root's blocks, in bytes. Returns
 * false if the blocks are not contiguous or a number does not fit an int. */
static bool convert_to_ints(const coll_exec_args *call, int counts[], int places[]) {
    const coll_blocks *blocks = call->args.blocks;
    if (!coll_data_in_place(&blocks->longest))
        return false;
    const char *start = coll_data_target(&blocks->longest, 0, NULL);
    for (int rank = 0; rank < call->comm->ranks; rank++) {
        coll_data block = coll_blocks_at(blocks, rank);
        ptrdiff_t place = (char *)coll_data_target(&block, 0, NULL) - start;
        if (block.bytes > INT_MAX || place > INT_MAX || place < INT_MIN)
            return false;
        counts[rank] = (int)block.bytes;
        places[rank] = block.bytes ? (int)place : 0;
    }
    return true;
}

static int run_uneven(const coll_exec_args *call) {
    coll_comm *comm = call->comm;
    const coll_data *mine = call->data;
    void *scratch;
    int code = coll_comm_scratch(comm, 2 * (size_t)comm->ranks * sizeof(int), &scratch);
    if (code != MPI_SUCCESS)
        return code;
    int *counts = scratch, *places = counts + comm->ranks;
    const bool is_root = comm->rank == call->args.shape->root;
    const int64_t fits = is_root && convert_to_ints(call, counts, places);
    int64_t root_fits;
    code = coll_agree_highest(comm, 1, &fits, &root_fits);
    if (code != MPI_SUCCESS)
        return code;
    if (!root_fits) {
        const coll_values none = {.at = {0}};
        coll_exec_args linear = *call;
        linear.algorithm = &coll_gather_linear;
        linear.args.values = &none;
        return coll_exec_args_run(&linear);
    }
    if (is_root)
        return call_gatherv(call, MPI_IN_PLACE, 0, MPI_BYTE,
                            coll_data_target(&call->args.blocks->longest, 0, NULL), counts, places);
    if (coll_data_in_place(mine))
        return call_gatherv(call, coll_data_target(mine, 0, NULL), (int)mine->bytes, MPI_BYTE, NULL,
                            NULL, NULL);
    return call_gatherv(call, mine->buffer, (int)mine->count, mine->type, NULL, NULL, NULL);
}

static int run_native(const coll_exec_args *call) {
    return coll_gather_is_even(call->args.shape) ? run_even(call) : run_uneven(call);
}

const coll_algorithm coll_gather_native = {
    .name = "native",
    .summary = "the MPI library's own gather",
    .native = true,
    .run = run_native,
};
